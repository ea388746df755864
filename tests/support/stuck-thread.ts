/** Entry of a scan thread that says it is ready and then no longer comes round. */
import { parentPort } from 'node:worker_threads';
import type { ScanThreadOutbound } from '../../runtime/port.js';

parentPort?.postMessage({ type: 'ready', threadId: 0, osThreadId: 0 } satisfies ScanThreadOutbound);
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
