/**
 * Everything a network set carries from one scan to the next: where a replay goes on from, bit for bit. Retained values are
 * less (only what a restart keeps), a hot swap takes over less (only unchanged blocks).
 *
 * Invariant: what the plan alone determines (parameters, places, channel numbers) is not here; the same plan loaded by the
 * same version of the product gives it again, and `restoreMemory` refuses anything else.
 */
import type { MonoMs } from '../vocabulary/times.js';
import { inside } from '../vocabulary/assert.js';
import type { Mode } from '../vocabulary/modes.js';
import type { ShadowTrip } from './bypass.js';
import type { Instance, Run } from './instance.js';
import type { IoState } from './io-link.js';
import type { Memory } from './memory.js';

export interface MemoryState {
  readonly S: Float64Array;
  readonly Q: Uint8Array;
  readonly F: Int32Array;
  readonly X: Float64Array;
  readonly written: Uint8Array;
  readonly runs: readonly { readonly since: number; readonly scanCount: number; readonly hadFaults: boolean }[];
  readonly instances: readonly (Pick<Instance, 'state' | 'message' | 'faulted' | 'faultHash'> & { readonly name: string; readonly place: number })[];
}

export interface NetworkState extends MemoryState {
  readonly modes: readonly (readonly [string, Mode])[];
  readonly bypasses: readonly (ShadowTrip & { readonly seen: number })[];
  readonly settling: readonly (readonly [number, number])[];
  readonly io: IoState;
  readonly writesChanged: number;
  readonly mark: number;
  readonly monoMs: MonoMs;
}

const placeOf = ({ loaded }: Instance): number => loaded?.sb ?? -1;

export function copyMemory({ S, Q, F, X, written }: Memory, runs: readonly Run[], instances: readonly Instance[]): MemoryState {
  return {
    S: S.slice(),
    Q: Q.slice(),
    F: F.slice(),
    X: X.slice(),
    written: written.slice(),
    runs: runs.map(({ since, scanCount, hadFaults }) => ({ since, scanCount, hadFaults })),
    instances: instances.map((instance) => {
      const { plan, state, message, faulted, faultHash } = instance;
      return { name: plan.name, place: placeOf(instance), state, message, faulted, faultHash };
    }),
  };
}

/** @throws Error when the plan lays out its networks in another way than when the state was taken. */
export function restoreMemory(saved: MemoryState, memory: Memory, runs: readonly Run[], instances: readonly Instance[]): void {
  const fits =
    saved.S.length === memory.S.length &&
    saved.F.length === memory.F.length &&
    saved.X.length === memory.X.length &&
    saved.runs.length === runs.length &&
    saved.instances.length === instances.length &&
    instances.every((instance, n) => saved.instances[n]?.name === instance.plan.name && saved.instances[n].place === placeOf(instance));
  if (!fits) throw new Error('the networks are laid out in another way: the state comes from another version of the product');
  memory.S.set(saved.S);
  memory.Q.set(saved.Q);
  memory.F.set(saved.F);
  memory.X.set(saved.X);
  memory.written.set(saved.written);
  runs.forEach((run, n) => {
    Object.assign(run, saved.runs[n]);
  });
  instances.forEach((instance, n) => {
    const { state, message, faulted, faultHash } = inside(saved.instances, n, 'the state has an entry per network, as was asked above');
    Object.assign(instance, { state, message, faulted, faultHash });
  });
}
