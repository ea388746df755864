/** A probe with a clock and a wire of the test's own. */
import type { ProbeChannel, ProbeModule, ProbeOutbound, ProbePlan } from '../../../runtime/port.js';
import type { Driver, Link } from '../../../runtime/io/driver.js';
import { modbusDescription } from '../../../runtime/io/modbus/description.js';
import { ProbeCore } from '../../../runtime/io/probe-core.js';
import { Signal } from '../../../runtime/io/signal.js';
import { ProcessImage } from '../../../runtime/vocabulary/process-image.js';
import { ManualClock } from './manual-clock.js';

/** A wire whose far end is a table of values. */
export class Wire {
  readonly values = new Map<string, number>();
  readonly written: [address: string, value: unknown, atMs: number][] = [];
  readonly connectsAtMs: number[] = [];
  present = true;
  /** Ends when the test says so: whoever connects waits meanwhile. */
  hanging: Promise<void> | undefined;
  /** How long a read takes. */
  readMs = 0;
  /** The addresses of each read that has come. */
  readonly reads: (readonly string[])[] = [];
  refusal = '';
  silent = false;
  explode = false;
  /** When the far end closes each connection by itself. */
  drops: 'never' | 'at once' | 'after an answer' = 'never';
  #lost = new Signal();

  readonly #clock: ManualClock;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  pull(): void {
    this.present = false;
    this.#lost.raise('the plug was pulled');
  }

  readonly driver: Driver = {
    ...modbusDescription,
    connect: async (): Promise<Link> => {
      this.connectsAtMs.push(this.#clock.monoMs());
      await this.hanging;
      if (!this.present) throw new Error('nobody there');
      const lost = new Signal();
      this.#lost = lost;
      if (this.drops === 'at once') lost.raise('the device closed the connection');
      return {
        lost: lost.promise,
        read: async (points, sink) => {
          this.reads.push(points.map(({ address }) => address));
          if (this.explode) throw new Error('a bug in the driver');
          if (this.silent) return new Promise(() => {});
          if (lost.reason !== undefined) return { status: 'lost', message: lost.reason };
          if (this.readMs > 0) await new Promise<void>((resolve) => this.#clock.after(this.readMs, resolve));
          sink.begin();
          points.forEach((point, position) => {
            const value = this.values.get(point.address);
            if (value === undefined) sink.bad(position, 'no such address');
            else sink.number(position, value);
          });
          sink.end();
          if (this.drops === 'after an answer') lost.raise('the device closed the connection');
          return { status: 'answered' };
        },
        lastExchange: () => ({ sent: '01', received: '', atMs: 0, roundTripMs: 0 }),
        write: async (point, value, barred) => {
          const reason = barred?.();
          if (reason) return reason;
          if (this.refusal !== '') return { ok: false, reason: 'refused', message: this.refusal };
          this.written.push([point.address, value, this.#clock.monoMs()]);
          this.values.set(point.address, Number(value));
          return { ok: true };
        },
        close: async () => lost.raise('closed'),
      };
    },
  };
}

export function channel(name: string, direction: ProbeChannel['direction'] = 'input', more: Partial<ProbeChannel> = {}): ProbeChannel {
  return { name, address: name, direction, dataType: 'float', readbackAddress: '', pollIntervalMs: 0, ...more };
}

export function moduleOf(channels: readonly ProbeChannel[], more: Partial<ProbeModule> = {}): ProbeModule {
  return { site: 'north', module: 'io', protocol: 'modbus', address: 'plc', options: {}, channels, image: new ProcessImage(channels.length).buffer, ...more };
}

export const imageOf = (module: ProbeModule): ProcessImage => new ProcessImage(module.channels.length, module.image);

export interface Rig {
  readonly clock: ManualClock;
  readonly wire: Wire;
  readonly core: ProbeCore;
  readonly messages: ProbeOutbound[];
  load(...modules: ProbeModule[]): Promise<void>;
  last<T extends ProbeOutbound['type']>(type: T): Extract<ProbeOutbound, { type: T }>;
}

export function rig(timeScale = 1): Rig {
  const clock = new ManualClock();
  const wire = new Wire(clock);
  const messages: ProbeOutbound[] = [];
  const core = new ProbeCore({ clock, random: () => 0.5, post: (message) => void messages.push(message), drivers: { modbus: async () => wire.driver } });
  const plan = (modules: ProbeModule[]): ProbePlan => ({ probe: 'p', revision: 1, timeScale, modules, reconnectMinMs: 500, reconnectMaxMs: 30_000, readbackTimeoutMs: 5000 });
  return {
    clock,
    wire,
    core,
    messages,
    load: async (...modules) => {
      await core.receive({ type: 'plan', plan: plan(modules) });
      await clock.advance(0);
    },
    last: (type) => messages.findLast((message) => message.type === type) as never,
  };
}
