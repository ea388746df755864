/** Whether a device shows what was written to it: the readback is read until it agrees, the time is over, or something else was written. */
import type { ImagePoint } from './image-sink.js';
import type { RunnerHost } from './module-runner.js';
import type { Output, Settled, Verification } from './output-state.js';
import { WRITE_STATUS } from '../vocabulary/process-image.js';

const READBACK_POLL_MS = 200;

export class ReadbackCheck {
  readonly #host: Pick<RunnerHost, 'clock' | 'settings'>;
  readonly #readPoint: (point: ImagePoint) => Promise<void>;
  readonly #fault: (fault: unknown) => void;

  /** `readPoint` delivers to whoever judges readbacks; `fault` is told what must not happen. */
  constructor(host: Pick<RunnerHost, 'clock' | 'settings'>, readPoint: (point: ImagePoint) => Promise<void>, fault: (fault: unknown) => void) {
    this.#host = host;
    this.#readPoint = readPoint;
    this.#fault = fault;
  }

  /** Reads back until the value agrees or `io.readbackTimeout` is over. */
  begin(output: Output, value: number | string, sequence: number | undefined, done: (settled: Settled, verification: Verification) => void): void {
    const verification: Verification = {
      value,
      sequence,
      read: undefined,
      deadlineMonoMs: this.#host.clock.monoMs() + this.#host.settings().readbackTimeoutMs,
      settle: (settled) => {
        if (output.verification !== verification) return;
        output.verification = undefined;
        done(settled, verification);
      },
    };
    output.verification?.settle('overtaken');
    output.verification = verification;
    this.#chase(output, verification).catch((fault: unknown) => this.#fault(fault));
  }

  async #chase(output: Output, verification: Verification): Promise<void> {
    const { channel, slot } = output;
    const point: ImagePoint = { address: channel.readbackAddress, dataType: channel.dataType, channel: slot, pollMs: 0, readback: true };
    while (output.verification === verification) {
      await this.#readPoint(point);
      if (output.verification !== verification) return;
      if (this.#host.clock.monoMs() >= verification.deadlineMonoMs) {
        verification.settle(verification.read === undefined ? WRITE_STATUS.failed : WRITE_STATUS.mismatch);
        return;
      }
      await new Promise<void>((resolve) => {
        this.#host.clock.after(READBACK_POLL_MS, resolve);
      });
    }
  }
}
