/** Entry of a thread that reads the whole of `state.db` once, which takes minutes for a large one, says what it found, and ends. */
import { parentPort, workerData } from 'node:worker_threads';
import { quickCheck } from './inspect.js';

parentPort?.postMessage({ type: 'checked', fault: quickCheck((workerData as { readonly file: string }).file) });
