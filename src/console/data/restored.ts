/** Whether this box was restored from a backup and withholds its outputs until somebody confirms that the other one is off (D-C-06). */
import { signal } from '@preact/signals';
import { get, post } from './api.js';
import { can } from './session.js';
import { everySecond } from './timers.js';

export interface Restored {
  readonly restoredAt: string;
  readonly backup: { readonly createdAt: string; readonly deviceId: string };
  /** What could not be verified, in sentences. */
  readonly unverified: readonly string[];
}

interface Answer {
  readonly waits: boolean;
  /** Null where nothing is known of it. */
  readonly restored: Restored | null;
}

/** It changes once in the life of a box, from any of its panels. */
const READ_EVERY_S = 15;
const PATH = '/api/v1/system/restore';
const NOTHING: Answer = { waits: false, restored: null };

export const restore = signal<Answer>(NOTHING);
let seconds = 0;

export function startRestored(): void {
  void readRestore();
  everySecond(async () => {
    seconds += 1;
    if (!document.hidden && seconds % READ_EVERY_S === 0) await readRestore();
  });
}

/** What cannot be read stays as it was read last; that nothing can be read other places of the page say. */
export async function readRestore(): Promise<void> {
  if (!can('system:restore')) return;
  try {
    const next = await get<Answer>(PATH, { background: true });
    if (JSON.stringify(next) !== JSON.stringify(restore.peek())) restore.value = next;
  } catch {
    return;
  }
}

/** The banner goes with `readRestore`, when the dialog that says it is done is closed. */
export async function confirmRestore(reason: string): Promise<void> {
  await post(`${PATH}/confirm`, { reason });
}
