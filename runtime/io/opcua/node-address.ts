/** Channel addresses of OPC UA: node ids with `ns=` or `nsu=`, and the place of an array element behind `|` (decisions 7.4). */
import type { NodeId } from 'node-opcua-client';
import { NodeId as NodeIdClass, resolveNodeId } from './library.js';

const ADDRESS = /^(?:nsu=(?<uri>[^;]+);)?(?<node>.+?)(?:\|(?<index>\d{1,9}))?$/s;
const INDEX = /^(?:ns=(?<index>\d{1,5});)?/;

export interface NodeAddress {
  readonly nodeId: NodeId;
  /** Numeric range of one element; '' for the whole value (OPC 10000-4, 7.27). */
  readonly indexRange: string;
}

/** @returns the sentence instead when the server does not know the namespace, or the text is no node id. */
export function resolveAddress(text: string, namespaces: readonly string[]): NodeAddress | string {
  const { uri, node = '', index = '' } = ADDRESS.exec(text)?.groups ?? {};
  const namespace = uri === undefined ? Number(INDEX.exec(node)?.groups?.index ?? 0) : namespaces.indexOf(uri);
  if (namespace < 0) return `the server does not have the namespace ${uri}`;
  try {
    const nodeId = resolveNodeId(uri === undefined ? node : `ns=${namespace};${node}`);
    return { nodeId, indexRange: index };
  } catch {
    return `${text} is not a node id`;
  }
}

/** A node id in the form that outlives a restart of the server: by the URI of its namespace. */
export function stableText(nodeId: NodeId, namespaces: readonly string[]): string {
  const plain = new NodeIdClass(nodeId.identifierType, nodeId.value, 0).toString().replace(/^ns=0;/, '');
  if (nodeId.namespace === 0) return plain;
  const uri = namespaces[nodeId.namespace];
  return uri === undefined || uri.includes(';') ? `ns=${nodeId.namespace};${plain}` : `nsu=${uri};${plain}`;
}
