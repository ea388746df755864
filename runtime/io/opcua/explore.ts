/** What an engineer asks of a server before, and beside, the modules that are served (decisions Q-IO-06). */
import type { NodeId } from 'node-opcua-client';
import { X509Certificate } from 'node:crypto';
import type { ExplorerAsk, ExplorerReply, ExplorerRequest } from '../../port.js';
import type { Clock } from '../../vocabulary/clock.js';
import type { Value } from '../../vocabulary/data-types.js';
import { fingerprint, ownIdentity } from './identity.js';
import { AttributeIds, DataType, MessageSecurityMode, NodeClass, UserTokenType } from './library.js';
import { OpcUaLink } from './link.js';
import { type NodeAddress, resolveAddress, stableText } from './node-address.js';
import { argumentsOf, builtInTypeOf, readAttributes, typeName, writeValue } from './node-types.js';
import { endpointsOf, firstOf, openSession, type SessionPlan } from './open-session.js';
import { compareServers } from './same-server.js';
import { servicesBelow } from './services.js';
import { faultText, OpcUaFault, severityOf, statusText } from './status.js';
import { encode, type OpcDataType, shown } from './values.js';
import { variablesBelow } from './variables.js';
import { childrenOf, type Deadline, deadlineIn, walk } from './walk.js';
import type { Wire } from './wire.js';

const FOUND_MAX = 500;
const POLICY_URI = 'http://opcfoundation.org/UA/SecurityPolicy#';
const SESSION_MS = 60_000;
const READS_PER_CALL = 100;

/** What was asked for cannot be so: no matter which server. */
class InvalidAsk extends Error {}

export async function explore(request: ExplorerRequest, clock: Clock): Promise<ExplorerReply> {
  const { id, timeoutMs } = request;
  // made once in the life of a box, which takes seconds on a small one: not of the time of the server
  await ownIdentity(request.security.folder, clock.wallMs()).catch(() => undefined); // who needs it is told
  let cancel: () => void = () => {};
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(timeoutMs, () => reject(new OpcUaFault('silent', `the server has not answered within ${timeoutMs} ms`, 'BadTimeout')));
  });
  const asked = answer(request, clock);
  try {
    return { id, ok: true, answer: await Promise.race([asked, late]) };
  } catch (fault) {
    asked.catch(() => undefined); // what comes late is heard by nobody
    if (fault instanceof InvalidAsk) return { id, ok: false, reason: 'invalid', opcStatus: '', message: fault.message };
    return { id, ok: false, reason: 'unreachable', opcStatus: fault instanceof OpcUaFault ? fault.opcStatus : 'BadCommunicationError', message: faultText(fault) };
  } finally {
    cancel();
  }
}

async function answer(request: ExplorerRequest, clock: Clock): Promise<unknown> {
  const { endpointUrl, security, credentials, timeoutMs, ask } = request;
  const plan: SessionPlan = { url: endpointUrl, name: 'Lineside discovery', security, credentials, sessionTimeoutMs: SESSION_MS, timeoutMs };
  if (ask.what === 'identity') return identityAnswer(security.folder, clock);
  if (ask.what === 'endpoints') return endpointsAnswer(plan, clock);
  // a server that does not answer is told in time, beside those that do
  if (ask.what === 'same-server') return { servers: await compareServers({ ...plan, timeoutMs: timeoutMs * COMPARED_SHARE }, ask.urls, clock) };
  const deadline = deadlineIn(timeoutMs * DEADLINE_SHARE, clock);
  const { wire, user } = await openSession(plan, clock);
  try {
    const link = new OpcUaLink(wire, user, { mode: 'poll', batchSize: READS_PER_CALL, retries: 0, timeoutMs, publishingIntervalMs: 1000, samplingIntervalMs: 1000 }, clock);
    await link.prepare();
    return await sessionAnswer(wire, link.namespaces, ask, deadline);
  } finally {
    await wire.close();
  }
}

/** A walk stops so early that what was found is told in time. */
const DEADLINE_SHARE = 0.8;
/** Of each of the requests that a comparison takes: a connection, and a question, on either side. */
const COMPARED_SHARE = 0.2;

async function identityAnswer(folder: string, clock: Clock): Promise<unknown> {
  const { applicationUri, certificatePem, certificate } = await ownIdentity(folder, clock.wallMs());
  const { validFrom, validTo } = new X509Certificate(certificate);
  return { applicationUri, certificatePem, sha256: fingerprint(certificate), notBefore: new Date(validFrom).toISOString(), notAfter: new Date(validTo).toISOString() };
}

async function endpointsAnswer(plan: SessionPlan, clock: Clock): Promise<unknown> {
  const endpoints = await endpointsOf(plan, clock);
  return {
    endpoints: endpoints.map(({ endpointUrl, securityPolicyUri, securityMode, userIdentityTokens, server, serverCertificate }) => {
      const certificate = firstOf(serverCertificate);
      return {
        endpointUrl: endpointUrl ?? '',
        securityPolicy: String(securityPolicyUri ?? '').replace(POLICY_URI, ''),
        securityMode: MessageSecurityMode[securityMode] ?? 'Invalid',
        userTokenTypes: [...new Set((userIdentityTokens ?? []).map(({ tokenType }) => UserTokenType[tokenType] ?? 'Invalid'))],
        applicationUri: server.applicationUri ?? '',
        applicationName: server.applicationName.text ?? '',
        serverCertificateSha256: certificate.length === 0 ? '' : fingerprint(certificate),
      };
    }),
  };
}

type SessionAsk = Exclude<ExplorerAsk, { what: 'identity' | 'endpoints' | 'same-server' }>;

async function sessionAnswer(wire: Wire, namespaces: readonly string[], ask: SessionAsk, deadline: Deadline): Promise<unknown> {
  const target = (text: string): NodeAddress => {
    const found = resolveAddress(text, namespaces);
    if (typeof found === 'string') throw new InvalidAsk(found);
    return found;
  };
  switch (ask.what) {
    case 'browse':
      return browse(wire, namespaces, ask.nodeId, target(ask.nodeId).nodeId, ask.maxNodes);
    case 'search':
      return search(wire, namespaces, ask.text, target(ask.root).nodeId, deadline);
    case 'variables':
      return variablesBelow(wire, namespaces, target(ask.root).nodeId, deadline, FOUND_MAX);
    case 'services':
      return servicesBelow(wire, namespaces, target(ask.root).nodeId, deadline, FOUND_MAX);
    case 'read':
      return { values: await read(wire, ask.nodeIds, ask.nodeIds.map(target)) };
    case 'write':
      return write(wire, ask.nodeId, target(ask.nodeId), ask.value, ask.dataType);
    case 'method-args': {
      target(ask.objectId);
      const { inputs, outputs } = await argumentsOf(wire, target(ask.methodId).nodeId, namespaces);
      const told = (rows: typeof inputs): unknown => (rows ?? []).map(({ name, dataType, valueRank, description }) => ({ name, dataType, valueRank, description }));
      return { inputArguments: told(inputs), outputArguments: told(outputs) };
    }
  }
}

/** Data types of variables, by place; '' for what has none. */
export async function dataTypesOf(
  wire: Wire,
  namespaces: readonly string[],
  nodes: readonly { readonly nodeId: NodeId; readonly nodeClass: number }[],
): Promise<readonly string[]> {
  const variables = nodes.flatMap(({ nodeId, nodeClass }, place) => (nodeClass === NodeClass.Variable ? [{ nodeId, place }] : []));
  const names = nodes.map(() => '');
  for (let at = 0; at < variables.length; at += READS_PER_CALL) {
    const batch = variables.slice(at, at + READS_PER_CALL);
    const read = await readAttributes(
      wire,
      batch.map(({ nodeId }) => ({ nodeId, attributeId: AttributeIds.DataType })),
    );
    batch.forEach(({ place }, index) => {
      const named = read[index]?.value?.value as NodeId | undefined;
      if (named) names[place] = typeName(named, namespaces);
    });
  }
  return names;
}

async function browse(wire: Wire, namespaces: readonly string[], text: string, nodeId: NodeId, maxNodes: number): Promise<unknown> {
  const { children, problems, isCut } = await childrenOf(wire, [nodeId], { max: maxNodes });
  if (problems[0]) throw new OpcUaFault('refused', `${text}: ${problems[0]}`, problems[0].split(':')[0] ?? '');
  const references = children[0] ?? [];
  const types = await dataTypesOf(wire, namespaces, references);
  const below = await childrenOf(
    wire,
    references.map((reference) => reference.nodeId),
    { max: 1 },
  );
  return {
    nodeId: text,
    references: references.map(({ nodeId: child, browseName, displayName, nodeClass, typeDefinition }, place) => ({
      nodeId: stableText(child, namespaces),
      browseName: browseName.name ?? '',
      displayName: displayName.text ?? '',
      nodeClass: NodeClass[nodeClass] ?? '',
      typeDefinition: typeDefinition && Number(typeDefinition.value) !== 0 ? stableText(typeDefinition, namespaces) : '',
      dataType: types[place] ?? '',
      hasChildren: (below.children[place]?.length ?? 0) > 0,
    })),
    truncated: isCut,
  };
}

async function search(wire: Wire, namespaces: readonly string[], text: string, root: NodeId, deadline: Deadline): Promise<unknown> {
  const wanted = text.toLowerCase();
  const found: { readonly nodeId: NodeId; readonly nodeClass: number; readonly path: string; readonly displayName: string }[] = [];
  const isCut = await walk(wire, root, deadline, ({ reference: { nodeId, nodeClass, browseName, displayName }, path }) => {
    const words = [browseName.name, displayName.text, stableText(nodeId, namespaces)];
    if (!words.some((word) => word?.toLowerCase().includes(wanted))) return true;
    if (found.length >= FOUND_MAX) return false;
    found.push({ nodeId, nodeClass, path, displayName: displayName.text ?? '' });
    return true;
  });
  const types = await dataTypesOf(wire, namespaces, found);
  return {
    items: found.map(({ nodeId, nodeClass, path, displayName }, place) => ({
      nodeId: stableText(nodeId, namespaces),
      browsePath: path,
      displayName,
      nodeClass: NodeClass[nodeClass] ?? '',
      dataType: types[place] ?? '',
    })),
    truncated: isCut,
  };
}

async function read(wire: Wire, texts: readonly string[], targets: readonly NodeAddress[]): Promise<unknown[]> {
  const values: unknown[] = [];
  for (let at = 0; at < targets.length; at += READS_PER_CALL) {
    const batch = targets.slice(at, at + READS_PER_CALL);
    const results = await readAttributes(
      wire,
      batch.map(({ nodeId, indexRange }) => ({ nodeId, attributeId: AttributeIds.Value, indexRange })),
    );
    batch.forEach((_, place) => {
      const value = results[place];
      values.push({
        nodeId: texts[at + place] ?? '',
        value: shown(value?.value),
        dataType: value?.value && value.value.dataType !== DataType.Null ? (DataType[value.value.dataType] ?? '') : '',
        quality: value ? severityOf(value.statusCode) : 'Bad',
        opcStatus: value?.statusCode.name ?? 'BadUnexpectedError',
        sourceTimestamp: value?.sourceTimestamp?.toISOString() ?? '',
      });
    });
  }
  return values;
}

async function write(wire: Wire, text: string, target: NodeAddress, value: Value, dataType: string | undefined): Promise<unknown> {
  const type = dataType === undefined || dataType === '' ? await builtInTypeOf(wire, target) : (DataType[dataType as keyof typeof DataType] as OpcDataType | undefined);
  if (type === undefined) throw new InvalidAsk(`${dataType} is no built-in data type such as Double or Int32`);
  const encoded = encode(value, type, target.indexRange !== '');
  if (typeof encoded === 'string') throw new InvalidAsk(encoded);
  const status = await writeValue(wire, target, encoded);
  return { ok: severityOf(status) === 'Good', nodeId: text, opcStatus: status.name, message: severityOf(status) === 'Good' ? 'written' : statusText(status) };
}
