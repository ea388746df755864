/** Entry of a scan thread that comes round and never sleeps, as one with a scan that takes longer than its period; told `alive` it begins to sleep. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { ScanThreadInbound, ScanThreadOutbound, ScanThreadStart } from '../../runtime/port.js';
import { Sleeper } from '../../runtime/vocabulary/scan-thread.js';

const port = parentPort;
if (!port) throw new Error('a scan thread needs a message port');
const sleeper = new Sleeper((workerData as ScanThreadStart).cells);
port.postMessage({ type: 'ready', threadId: 0, osThreadId: 41 } satisfies ScanThreadOutbound);
for (let isCalm = false; ; ) {
  sleeper.round();
  const told = (receiveMessageOnPort(port) as { readonly message: ScanThreadInbound } | undefined)?.message;
  if (told?.type === 'unit' && told.message.type === 'alive') isCalm = true;
  if (isCalm) sleeper.sleep(1);
}
