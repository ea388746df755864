/** Entry of the thread that makes the backups of a running box: reading, packing and encrypting keep nobody else waiting, and it gives way to all of them. */
import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import path from 'node:path';
import { parentPort } from 'node:worker_threads';
import { assert } from '../base/assert.js';
import { serveCalls } from '../base/worker-calls.js';
import { type KeptWish, makeKept } from './kept.js';
import { BackupRefused } from './refused.js';

const port = parentPort;
assert(port, 'backups are made in a worker');

try {
  setPriority(Number(path.basename(readlinkSync('/proc/thread-self'))), constants.priority.PRIORITY_LOW);
} catch {
  // a system without /proc: it takes its turn as any other thread
}

serveCalls(port, {
  /** What is refused is an answer, so that its words arrive as they are. */
  async make(wish: KeptWish) {
    try {
      return { made: await makeKept(wish) };
    } catch (fault) {
      return { fault: (fault as Error).message, isRefused: fault instanceof BackupRefused };
    }
  },
  close: () => undefined,
});
