/**
 * What may go to its fail-safe values while a probe is away (contract 3, I/O module; IO-16): whoever restarts one has seen the modules and their
 * time-outs, and says so.
 */
import type * as v from 'valibot';
import { parseDuration } from '../../platform/base/duration-text.js';
import { conflict } from '../../platform/base/refusal.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { type FailSafe, IOModule } from './kind.js';

export interface Armed {
  readonly ioModule: string;
  readonly timeout: string;
  readonly outputs: v.InferOutput<typeof FailSafe>['outputs'];
}

/** Those of the modules that declare a fail-safe time-out. */
export function armedOf(read: StoreReader, site: string, modules: readonly string[]): Armed[] {
  return modules.flatMap((name) => {
    const failSafe = read.get(IOModule, site, name)?.spec.failSafe;
    return failSafe && (parseDuration(failSafe.timeout) ?? 0) > 0 ? [{ ioModule: name, timeout: failSafe.timeout, outputs: failSafe.outputs }] : [];
  });
}

/** @throws Refusal 409 `fail_safe_not_acknowledged` that names each module and its time-out. */
export function refuseUnacknowledged(armed: readonly Armed[], acknowledged: boolean): void {
  if (armed.length === 0 || acknowledged) return;
  const named = armed.map(({ ioModule, timeout }) => `${ioModule} after ${timeout}`).join(', ');
  throw conflict('fail_safe_not_acknowledged', `while the probe restarts, outputs may go to their fail-safe values: ${named}; send acknowledgeFailSafe true to go on`, {
    failSafeArmed: armed,
  });
}
