/**
 * Entry of the ledger thread: drain the inbox, commit what is in it as one group, answer with one message (design,
 * section 1). Adaptive gather: when the disk is slow and callers come in company, waiting a little lets the second half
 * of the company travel with the first (measured; on a fast disk it would cost four times).
 */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { assert } from '../base/assert.js';
import { openDeviceKeys } from './keys.js';
import { StateWriter } from './state-writer.js';
import { decode, type FromLedger, type ToLedger, type WireTransaction } from './wire.js';

const GROUP_MAX = 4096; // transactions per commit: bounds how long the first caller waits
const GATHER_MAX_MS = 1;
const SLOW_DISK_MS = 1;
const AVERAGE_WEIGHT = 0.2;
const QUIET_MS = 250;
const SIGN_AFTER_MS = 10_000; // an unsigned end is signed this long after it was written, in a quiet moment

const { dataDir } = workerData as { dataDir: string };
const port = parentPort;
assert(port, 'the ledger runs as a worker');
const inlet = port;
const gate = new Int32Array(new SharedArrayBuffer(4));
const writer = new StateWriter(dataDir, openDeviceKeys(dataDir));

let lastGroup = 0;
let commitMs = 0;
let unsignedSinceMs: number | null = null;
let closing = false;

function answer(message: FromLedger): void {
  inlet.postMessage(message);
}

function gather(): void {
  if (lastGroup > 1 && commitMs > SLOW_DISK_MS) Atomics.wait(gate, 0, 0, Math.min(GATHER_MAX_MS, commitMs / 4));
}

function drain(first: ToLedger): ToLedger[] {
  const inbox = [first];
  for (let next = receiveMessageOnPort(inlet); next; next = receiveMessageOnPort(inlet)) inbox.push(next.message as ToLedger);
  return inbox;
}

function commitGroup(group: readonly WireTransaction[]): void {
  const started = performance.now();
  const answers = writer.commit(group);
  commitMs += AVERAGE_WEIGHT * (performance.now() - started - commitMs);
  lastGroup = group.length;
  const refused = answers.flatMap((reason, index): [number, string][] => (reason === null ? [] : [[index, reason]]));
  answer({ type: 'settled', count: group.length, refused });
  writer.restIfOverfull();
}

function serve(first: ToLedger): void {
  if (first.type === 'commit') gather();
  let group: WireTransaction[] = [];
  const flush = (): void => {
    if (group.length > 0) commitGroup(group);
    group = [];
  };
  for (const message of drain(first)) {
    if (message.type === 'commit') {
      group.push(...decode(message.fields));
      if (group.length >= GROUP_MAX) flush();
      continue;
    }
    flush();
    serveOther(message);
  }
  flush();
  if (!closing) quiet.refresh();
}

function serveOther(message: Exclude<ToLedger, { type: 'commit' }>): void {
  try {
    if (message.type === 'load') return answer({ type: 'answer', id: message.id, image: writer.load(message.nonceWindowMs, message.nowMs) });
    if (message.type === 'probe') writer.probe();
    if (message.type === 'close') {
      closing = true;
      clearTimeout(quiet);
      writer.close();
    }
    answer({ type: 'answer', id: message.id });
    if (message.type === 'close') inlet.close();
  } catch (fault) {
    answer({ type: 'answer', id: message.id, fault: (fault as Error).message });
  }
}

function rest(): void {
  writer.rest();
  if (!writer.hasUnsignedRecords) {
    unsignedSinceMs = null;
    return;
  }
  unsignedSinceMs ??= performance.now();
  if (performance.now() - unsignedSinceMs >= SIGN_AFTER_MS) {
    writer.signEnd();
    unsignedSinceMs = null;
    return;
  }
  quiet.refresh();
}

const quiet = setTimeout(rest, QUIET_MS);
inlet.on('message', serve);
answer({ type: 'ready', findings: writer.findings });
