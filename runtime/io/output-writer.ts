/** The way of one value to the device: what may stop it before it is sent, and what is known of it afterwards. */
import type { ProbeChannel, ProbeModule } from '../port.js';
import type { Clock } from '../vocabulary/clock.js';
import type { Barred, Link, WriteOutcome } from './driver.js';

/** As it is at the moment. */
export interface WrittenSide {
  module(): ProbeModule;
  link(): Link | undefined;
  /** Why nothing is written for logic; empty: it is. */
  withheld(): string;
  /** The output still has this name, address and type. */
  has(channel: ProbeChannel): boolean;
}

export class OutputWriter {
  readonly #clock: Clock;
  readonly #side: WrittenSide;

  constructor(clock: Clock, side: WrittenSide) {
    this.#clock = clock;
    this.#side = side;
  }

  /** Where nothing withholds it when its turn comes. `untilMonoMs`: by then it is sent or has failed. */
  async write(channel: ProbeChannel, value: number | string, untilMonoMs = Number.POSITIVE_INFINITY): Promise<WriteOutcome> {
    const link = this.#side.link();
    const barred: Barred = () => {
      const withheld = this.#side.withheld();
      if (withheld !== '') return { ok: false, reason: 'withheld', message: withheld };
      if (this.#side.link() !== link) return { ok: false, reason: 'unreachable', message: 'the connection was closed before the value was sent' };
      if (!this.#side.has(channel))
        return { ok: false, reason: 'withheld', message: `channel ${channel.name} was changed before the value was sent to ${channel.address}: it was not sent` };
      if (this.#clock.monoMs() > untilMonoMs) return { ok: false, reason: 'unreachable', message: 'the device is too slow for what waits for it; the value was not sent' };
      return undefined;
    };
    return barred() ?? this.writePast(channel, value, barred);
  }

  /** Past what withholds the outputs of logic. `barred`: whatever else may stop it. */
  async writePast({ name, address, dataType }: ProbeChannel, value: number | string, barred?: Barred): Promise<WriteOutcome> {
    const { module, failSafe } = this.#side.module();
    if (failSafe?.posture === 'observed') return { ok: false, reason: 'refused', message: 'the module is observed only; nothing is written' };
    const link = this.#side.link();
    if (!link) return { ok: false, reason: 'unreachable', message: `module ${module} is not connected` };
    if (typeof value === 'number' && !Number.isFinite(value)) return { ok: false, reason: 'invalid', message: 'the value is not a finite number' };
    let stopped: ReturnType<Barred>; // which the link hands on as it is, if nothing was sent before
    const asked: Barred = () => {
      stopped = barred?.();
      return stopped;
    };
    try {
      const outcome = await link.write({ address, dataType }, dataType === 'bool' ? value !== 0 : value, asked);
      return outcome.ok || outcome.reason !== 'unreachable' || outcome === stopped ? outcome : unknownOutcome(name, outcome.message);
    } catch (error) {
      return unknownOutcome(name, error instanceof Error ? error.message : String(error));
    }
  }
}

/** A link that could not tell has been asked: whether it has sent anything is known to nobody. */
function unknownOutcome(channel: string, message: string): WriteOutcome {
  return { ok: false, reason: 'unreachable', message: `${message}; whether the device took it is not known: read channel ${channel} to see`, isUnknown: true };
}
