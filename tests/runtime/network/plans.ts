/** Small unit plans for the tests of networks and scans: the caller names only what it is about. */
import type { ImagePlan, NetworkPlan, TagPlan, UnitPlan } from '../../../runtime/port.js';
import { CONNECTION, IMAGE_HEADER, OUTPUTS, ProcessImage, processImageBytes } from '../../../runtime/vocabulary/process-image.js';
import { tagTableBytes } from '../../../runtime/vocabulary/tag-table.js';
import { leading } from '../../support/at.js';

export const SETTINGS = {
  loopLimit: 10_000,
  statementBudget: 100_000,
  exceptionChartTimeoutMs: 300_000,
  retainIntervalMs: 1000,
  readbackTimeoutMs: 5000,
  ioLostHoldDelayMs: 10_000,
  resumeCancelsPause: false,
  orphanTimeoutMs: 0,
};

export function unitPlan(part: Partial<UnitPlan> & { readonly networks: readonly NetworkPlan[] }): UnitPlan {
  const tags = part.tags ?? [];
  return {
    site: 'demo',
    unit: 'u1',
    revision: 1,
    scanIntervalMs: 100,
    timeScale: 1,
    composites: [],
    tags,
    table: new SharedArrayBuffer(tagTableBytes(tags.length)),
    images: [],
    moduleModes: {},
    settings: SETTINGS,
    retained: {},
    ...part,
  };
}

export function network(part: Partial<NetworkPlan> & Pick<NetworkPlan, 'name' | 'blocks'>): NetworkPlan {
  return {
    owner: 'module',
    shape: part.name,
    scanIntervalMs: 100,
    hash: 'h1',
    connections: [],
    variables: [],
    variableBindings: [],
    inputs: [],
    channels: [],
    ...part,
  };
}

/** `a.OUT > b.IN` for each connection. */
export function wires(...texts: readonly string[]): NetworkPlan['connections'] {
  return texts.map((text) => {
    const [sourceBlock, sourcePort, destBlock, destPort] = leading(text.split(/ > |\./), 4);
    return { sourceBlock, sourcePort, destBlock, destPort };
  });
}

/** `network.tag block.PORT type` for each tag; a trailing `w` makes it writable. */
export function tags(...texts: readonly string[]): TagPlan[] {
  return texts.map((text) => {
    const [address, port, type] = leading(text.split(' '), 3);
    const access = text.split(' ')[3];
    const [owner, name] = leading(address.split('.'), 2);
    const [block, portName] = leading(port.split('.'), 2);
    return { address, network: owner, name, type: type as TagPlan['type'], writable: access === 'w', cyclic: true, binding: { kind: 'port', block, port: portName } };
  });
}

/** The devices are there, and their outputs ours. */
export function connect({ images }: Pick<UnitPlan, 'images'>, connection: number = CONNECTION.connected, outputs: number = OUTPUTS.live): void {
  for (const { channels, buffer } of images) {
    const { header } = new ProcessImage(channels.length, buffer);
    Atomics.store(header, IMAGE_HEADER.connection, connection);
    Atomics.store(header, IMAGE_HEADER.outputs, outputs);
  }
}

export function image(module: string, ...channels: readonly string[]): ImagePlan {
  return {
    module,
    buffer: new SharedArrayBuffer(processImageBytes(channels.length)),
    staleAfterMs: 2000,
    channels: channels.map((text) => {
      const [name, direction] = leading(text.split(' '), 2);
      const dataType = text.split(' ')[2];
      return { name, address: name, direction: direction as 'input' | 'output', dataType: (dataType ?? 'float') as 'float', hasReadback: false };
    }),
  };
}
