/** One call of a generated function, and the copies before it: what a scan and a warm-up have in common. */
import type { Room } from './arena.js';
import type { Run } from './instance.js';
import type { IoLink } from './io-link.js';
import type { TextTable } from './texts.js';
import type { Memory } from './memory.js';
import { QUALITY } from '../vocabulary/quality.js';

/** Input variables of a run: from the signals of earlier runs, and from channels. */
export function copyInputs({ wires, channels, ages }: Run, { S, Q }: Memory, { value, quality, stale }: IoLink): void {
  // wireRuns has asserted of every pair that its places lie inside these arrays
  for (let n = 0; n < wires.length; n += 2) {
    const to = wires[n] as number;
    const from = wires[n + 1] as number;
    S[to] = S[from] as number;
    Q[to] = Q[from] as number;
  }
  for (let n = 0; n < channels.length; n += 2) {
    const to = channels[n] as number;
    const from = channels[n + 1] as number;
    S[to] = value[from] as number;
    Q[to] = quality[from] as number;
  }
  // to whoever reads a tag that is older than its maximum age, it is Bad (ADR 0070)
  for (let n = 0; n < ages.length; n += 3) {
    if (((stale[ages[n + 1] as number] as number) & (ages[n + 2] as number)) !== 0) Q[ages[n] as number] = QUALITY.Bad;
  }
}

/** Function number `part` over the first `count` instances of a run; `from` is where their region begins. The failed blocks. */
export function callPart(run: Run, part: number, from: Room, texts: TextTable, count: number, dtMs: number, mark: number): number {
  const first = run.instances[0]?.loaded;
  const scan = run.compiled.functions[part];
  if (!first || !scan) return 0;
  return scan(texts, from.slots + first.sb, from.constants + first.pb, from.faults + first.fb, from.numbers + first.wb, count, dtMs, run.periodMs, mark);
}
