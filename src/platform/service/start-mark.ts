/**
 * A mark that a start is under way, for whoever has to tell why it ended: systemd says `timeout` of a start and of a stop alike. It lies in the
 * folder that systemd makes for one run of the service (`RuntimeDirectory=`) and takes away after `ExecStopPost=`: in memory, so a dead
 * disk keeps nobody from it, and not beside the data, where a second process could leave its own.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Clock } from '../base/clock.js';
import type { DurationMs } from '../base/times.js';

const NAME = 'starting';

export interface StartMark {
  begin(): void;
  /** The start is through. */
  end(): void;
  /** Since it began; undefined: none is under way, or nobody can tell. */
  underWayForMs(): DurationMs | undefined;
}

/** Without the folder (no systemd) nothing is marked. */
export function startMark({ RUNTIME_DIRECTORY: folders = '' }: NodeJS.ProcessEnv, clock: Pick<Clock, 'monoMs'>): StartMark {
  const [folder = ''] = folders.split(':');
  const file = folder === '' ? undefined : path.join(folder, NAME);
  return {
    begin() {
      try {
        if (file !== undefined) writeFileSync(file, String(clock.monoMs()), { mode: 0o600 });
      } catch (fault) {
        console.error(`lineside: ${file} cannot be written, so a start that hangs is not counted: ${(fault as Error).message}`);
      }
    },
    end() {
      if (file !== undefined) rmSync(file, { force: true });
    },
    underWayForMs() {
      try {
        const beganMonoMs = file === undefined ? Number.NaN : Number.parseFloat(readFileSync(file, 'utf8'));
        return Number.isFinite(beganMonoMs) ? Math.max(0, clock.monoMs() - beganMonoMs) : undefined;
      } catch {
        return undefined;
      }
    },
  };
}
