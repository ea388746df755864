/**
 * Entry of a scan thread that hangs below JavaScript, as one does that waits for a dead disk: it opens a pipe that nobody writes (its path is
 * in HANG_ON). `terminate` cannot end it; whoever opens the pipe to write lets it go.
 */
import { openSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import type { ScanThreadOutbound } from '../../runtime/port.js';

parentPort?.postMessage({ type: 'ready', threadId: 0, osThreadId: 0 } satisfies ScanThreadOutbound);
openSync(process.env.HANG_ON ?? '', 'r');
