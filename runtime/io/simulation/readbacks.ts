/**
 * What outputs of a simulated module read back (decisions 7.7): compared for as long as the written value stands. An output whose readback address
 * shows nothing that follows it is a mismatch, as on a device.
 */
import type { ProbeChannel } from '../../port.js';
import type { MonoMs } from '../../vocabulary/times.js';
import { inside } from '../../vocabulary/assert.js';
import { type ProcessImage, WRITE_STATUS } from '../../vocabulary/process-image.js';
import { readbackAgrees } from '../readback.js';

interface Readback {
  readonly value: number | string;
  readonly deadlineMonoMs: MonoMs;
  /** Newest sequence that carries the value. */
  sequence: number;
  /** Undefined until it agreed or its time was over. */
  verdict: typeof WRITE_STATUS.done | typeof WRITE_STATUS.mismatch | undefined;
}

/** What a readback address shows; undefined where the simulation has no such address. */
export type ShownAt = (address: string) => { readonly value: number; readonly text?: string } | undefined;

const READ_BACK = 'a read-back belongs to a channel of the plan it was made under';

export class Readbacks {
  /** By channel. */
  readonly #written = new Map<number, Readback>();
  #mismatched: readonly string[] = [];

  /** Names of the outputs that read back differently; another list when another one does. */
  get mismatched(): readonly string[] {
    return this.#mismatched;
  }

  /** The channels are others. */
  clear(): void {
    this.#written.clear();
    this.#mismatched = [];
  }

  written(channel: number, value: number | string, sequence: number, deadlineMonoMs: MonoMs): void {
    const before = this.#written.get(channel);
    if (before?.value === value) before.sequence = sequence;
    else this.#written.set(channel, { value, sequence, verdict: undefined, deadlineMonoMs });
  }

  compare(channels: readonly ProbeChannel[], image: ProcessImage, nowMonoMs: MonoMs, shownAt: ShownAt): void {
    if (this.#written.size === 0) return;
    let hasChanged = false;
    for (const [channel, readback] of this.#written) {
      const { dataType, span, readbackAddress } = inside(channels, channel, READ_BACK);
      const shown = shownAt(readbackAddress);
      if (shown) image.readback[channel] = shown.value;
      const before = readback.verdict;
      if (shown && readbackAgrees(readback.value, shown.text ?? shown.value, dataType, span)) readback.verdict = WRITE_STATUS.done;
      else if (before !== undefined || nowMonoMs >= readback.deadlineMonoMs) readback.verdict = WRITE_STATUS.mismatch;
      hasChanged ||= readback.verdict !== before;
      if (readback.verdict === undefined) continue;
      image.outStatus[channel] = readback.verdict;
      Atomics.store(image.outDone, channel, readback.sequence);
    }
    if (!hasChanged) return;
    this.#mismatched = [...this.#written].filter(([, { verdict }]) => verdict === WRITE_STATUS.mismatch).map(([channel]) => inside(channels, channel, READ_BACK).name);
  }
}
