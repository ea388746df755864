/** A probe with one module, in this thread, against a real device: what the suites of drivers look at it with. */
import type { Test } from 'tap';
import type { ProbeChannel, ProbeInbound, ProbeModule, ProbeOutbound, ProbePlan } from '../../runtime/port.js';
import { ProbeCore } from '../../runtime/io/probe-core.js';
import { systemClock } from '../../runtime/vocabulary/clock.js';
import { ProcessImage } from '../../runtime/vocabulary/process-image.js';
import { at } from './at.js';

export type ChannelText = readonly [name: string, address: string, dataType: ProbeChannel['dataType'], more?: Partial<ProbeChannel>];

/** A port on which nobody listens (tcpmux). One that was free a moment ago may be that of another test's server now. */
export const DEAD_PORT = 1;

export function moduleOf(protocol: ProbeModule['protocol'], port: number, rows: readonly ChannelText[], options: ProbeModule['options'] = {}): ProbeModule {
  const channels = rows.map(([name, address, dataType, more]): ProbeChannel => ({ name, address, direction: 'input', dataType, readbackAddress: '', pollIntervalMs: 0, ...more }));
  const given = { pollInterval: '50ms', timeout: '1s', retries: 1, ...options };
  return { site: 'north', module: 'io', protocol, address: `127.0.0.1:${port}`, options: given, channels, image: new ProcessImage(channels.length).buffer };
}

export const planOf = (...modules: ProbeModule[]): ProbePlan => ({
  probe: 'probe-test',
  revision: 1,
  timeScale: 1,
  modules,
  reconnectMinMs: 50,
  reconnectMaxMs: 200,
  readbackTimeoutMs: 600,
});

/** Waits for a condition of a real peer; fails with its name after 30 s. */
export async function until(what: string, holds: () => boolean): Promise<number> {
  const started = performance.now();
  while (!holds()) {
    if (performance.now() - started > 30_000) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return performance.now() - started;
}

/** As `until`, of something that has to be asked. */
export async function untilTrue(what: string, holds: () => Promise<boolean>): Promise<void> {
  const started = performance.now();
  while (!(await holds())) if (performance.now() - started > 30_000) throw new Error(`never: ${what}`);
}

export interface ProbeBench {
  readonly core: ProbeCore;
  readonly messages: ProbeOutbound[];
  state(): string;
  message(): string;
  ask<T extends ProbeOutbound['type']>(request: ProbeInbound & { id: number }, answer: T): Promise<Extract<ProbeOutbound, { type: T }>>;
}

export async function startProbe(t: Test, ...modules: ProbeModule[]): Promise<ProbeBench> {
  const messages: ProbeOutbound[] = [];
  const core = new ProbeCore({ clock: systemClock, random: Math.random, post: (message) => void messages.push(message) });
  t.teardown(() => core.receive({ type: 'stop' }));
  await core.receive({ type: 'plan', plan: planOf(...modules) });
  const last = (): Extract<ProbeOutbound, { type: 'module' }> | undefined =>
    messages.findLast((message): message is Extract<ProbeOutbound, { type: 'module' }> => message.type === 'module' && message.module === 'io');
  return {
    core,
    messages,
    state: () => last()?.state ?? '',
    message: () => last()?.message ?? '',
    ask: async (request, answer) => {
      await core.receive(request);
      return messages.find((message) => message.type === answer && 'id' in message && message.id === request.id) as never;
    },
  };
}

export function valueOf(module: ProbeModule, name: string): { value: number; quality: number; text: string } {
  const image = new ProcessImage(module.channels.length, module.image);
  const index = module.channels.findIndex((channel) => channel.name === name);
  return { value: at(image.value, index), quality: at(image.quality, index), text: new TextDecoder().decode(image.getText(index)) };
}
