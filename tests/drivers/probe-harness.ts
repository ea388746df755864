/** A probe in this process with modules under test, for suites of drivers: what it says, and what its process images show. */
import type { Test } from 'tap';
import type { DriverTable } from '../../runtime/io/drivers.js';
import { ProbeCore } from '../../runtime/io/probe-core.js';
import type { ProbeChannel, ProbeInbound, ProbeModule, ProbeOutbound, ProbePlan } from '../../runtime/port.js';
import { type Clock, systemClock } from '../../runtime/vocabulary/clock.js';
import { IMAGE_HEADER, ProcessImage } from '../../runtime/vocabulary/process-image.js';
import { at } from '../support/at.js';

export type ChannelText = readonly [name: string, address: string, dataType: ProbeChannel['dataType'], more?: Partial<ProbeChannel>];

export function channelsOf(rows: readonly ChannelText[]): ProbeChannel[] {
  return rows.map(([name, address, dataType, extra]) => ({ name, address, direction: 'input', dataType, readbackAddress: '', pollIntervalMs: 0, ...extra }));
}

/** The module with other channels, and an image of its own for them. */
export function withChannels(module: ProbeModule, channels: readonly ProbeChannel[]): ProbeModule {
  return { ...module, channels, image: new ProcessImage(channels.length).buffer };
}

export const RECONNECT_MIN_MS = 50;
export const RECONNECT_MAX_MS = 200;

export const planOf = (...modules: ProbeModule[]): ProbePlan => planWith(RECONNECT_MAX_MS, modules);

const planWith = (reconnectMaxMs: number, modules: readonly ProbeModule[]): ProbePlan => ({
  probe: 'probe-test',
  revision: 1,
  timeScale: 1,
  modules,
  reconnectMinMs: RECONNECT_MIN_MS,
  reconnectMaxMs,
  readbackTimeoutMs: 600,
});

/** A machine that is busy with other tests. */
const PATIENCE_MS = 60_000;

const LOOKS_AT_ONCE = 50;

/** Waits for a condition of a real peer; fails with its name. @returns ms waited. */
export async function until(what: string, holds: () => boolean): Promise<number> {
  const started = performance.now();
  for (let looks = 0; !holds(); looks += 1) {
    if (performance.now() - started > PATIENCE_MS) throw new Error(`never: ${what}`);
    // what comes at once is seen at once; what takes its time is not waited for with the whole processor
    await new Promise((resolve) => (looks < LOOKS_AT_ONCE ? setImmediate(resolve) : setTimeout(resolve, 1)));
  }
  return performance.now() - started;
}

export interface Probe {
  readonly core: ProbeCore;
  readonly messages: ProbeOutbound[];
  state(module?: string): string;
  message(module?: string): string;
  ask<T extends ProbeOutbound['type']>(request: ProbeInbound & { id: number }, answer: T): Promise<Extract<ProbeOutbound, { type: T }>>;
}

interface ProbeOptions {
  /** Longest wait before an attempt. */
  readonly reconnectMaxMs?: number;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly drivers?: DriverTable;
}

export async function startProbe(
  t: Test,
  modules: readonly ProbeModule[],
  { clock = systemClock, random = Math.random, drivers, reconnectMaxMs = RECONNECT_MAX_MS }: ProbeOptions = {},
): Promise<Probe> {
  const messages: ProbeOutbound[] = [];
  const core = new ProbeCore({ clock, random, post: (message) => void messages.push(message), ...(drivers ? { drivers } : {}) });
  t.teardown(() => core.receive({ type: 'stop' }));
  await core.receive({ type: 'plan', plan: planWith(reconnectMaxMs, modules) });
  const last = (module: string): Extract<ProbeOutbound, { type: 'module' }> | undefined =>
    messages.findLast((message): message is Extract<ProbeOutbound, { type: 'module' }> => message.type === 'module' && message.module === module);
  return {
    core,
    messages,
    state: (module = 'io') => last(module)?.state ?? '',
    message: (module = 'io') => last(module)?.message ?? '',
    ask: async (request, answer) => {
      await core.receive(request);
      return messages.find((message) => message.type === answer && 'id' in message && message.id === request.id) as never;
    },
  };
}

export interface Shown {
  readonly value: number;
  readonly quality: number;
  readonly text: string;
  /** Wall time of the sample. */
  readonly atMs: number;
}

export function valueOf(module: ProbeModule, name: string): Shown {
  const image = new ProcessImage(module.channels.length, module.image);
  const index = module.channels.findIndex((channel) => channel.name === name);
  return { value: at(image.value, index), quality: at(image.quality, index), text: new TextDecoder().decode(image.getText(index)), atMs: at(image.sampledAtMs, index) };
}

export const connectionOf = (module: ProbeModule): number => Atomics.load(new ProcessImage(module.channels.length, module.image).header, IMAGE_HEADER.connection);
