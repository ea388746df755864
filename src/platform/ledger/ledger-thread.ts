/**
 * Entry of the ledger thread: drain the inbox, commit what is in it as one group, answer with one message (design,
 * section 1). Adaptive gather: when the disk is slow and callers come in company, waiting a little lets the second half
 * of the company travel with the first (measured; on a fast disk it would cost four times).
 */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { assert } from '../base/assert.js';
import type { Finding } from './gaps.js';
import { openDeviceKeys } from './keys.js';
import { StateWriter } from './state-writer.js';
import { LedgerAtWork } from './at-work.js';
import { decode, type FromLedger, type ToLedger, type WireField, type WireTransaction } from './wire.js';

const GROUP_MAX = 2048; // transactions taken at a time
const JOINS_MAX = 2; // how often more of them join a group: bounds how long its first caller waits
const GATHER_MAX_MS = 1;
const SLOW_DISK_MS = 1;
const AVERAGE_WEIGHT = 0.2;
const QUIET_MS = 250;
/** A plant that always writes something has no quiet moment: then the work of one is done between two groups. */
const REST_AT_LEAST_MS = 10_000;
const CUT_PAUSE_MS = 10; // between two slices of archived records that leave the table
const CUT_SHARE = 4; // and so many times what the slice took
const CUT_AGAIN_MS = 5000; // after one that the disk refused
const MARK_MS = 5000; // the copies of the marker are at most 10 s behind (D-C-09), also when a commit takes long
const ROUND_MS = 250; // so often a thread that comes round says so
const SIGN_AFTER_MS = 10_000; // an unsigned end is signed this long after it was written, in a quiet moment

const { dataDir, found, atWork } = workerData as { dataDir: string; found?: readonly Finding[]; atWork: SharedArrayBuffer };
const port = parentPort;
assert(port, 'the ledger runs as a worker');
const inlet = port;
const gate = new Int32Array(new SharedArrayBuffer(4));
const work = new LedgerAtWork(atWork);
const writer = new StateWriter(dataDir, openDeviceKeys(dataDir), found);

let lastGroup = 0;
let commitMs = 0;
let unsignedSinceMs: number | null = null;
let closing = false;
let restedAtMs = performance.now();
let checkpointTrouble: string | null = null;

function answer(message: FromLedger): void {
  inlet.postMessage(message);
}

function gather(): void {
  if (lastGroup > 1 && commitMs > SLOW_DISK_MS) Atomics.wait(gate, 0, 0, Math.min(GATHER_MAX_MS, commitMs / 4));
}

/** Messages that came and have not been served. */
const inbox: Exclude<ToLedger, { type: 'part' }>[] = [];
/** Parts of a message that has not come whole. */
let parts: WireField[] = [];

function take(message: ToLedger): void {
  if (message.type === 'part') {
    parts = parts.concat(message.fields);
  } else if (message.type === 'commit' && parts.length > 0) {
    inbox.push({ ...message, fields: parts.concat(message.fields) });
    parts = [];
  } else {
    inbox.push(message);
  }
}

function drain(): void {
  for (let next = receiveMessageOnPort(inlet); next; next = receiveMessageOnPort(inlet)) take(next.message as ToLedger);
}

/** Transactions at the head of the inbox; none when another request comes before them. */
function takeTransactions(): readonly WireTransaction[] {
  drain();
  const taken: WireTransaction[] = [];
  while (inbox[0]?.type === 'commit' && taken.length < GROUP_MAX) {
    const { fields } = inbox.shift() as Extract<ToLedger, { type: 'commit' }>;
    for (const transaction of decode(fields)) taken.push(transaction);
  }
  return taken;
}

/** What comes in while a group is being written still joins it: the sync at its end is the costly part. */
function commitGroup(): void {
  const started = performance.now();
  let joins = 0;
  const answers = work.onStorage(() => writer.commit(() => (joins++ <= JOINS_MAX ? takeTransactions() : [])));
  commitMs += AVERAGE_WEIGHT * (performance.now() - started - commitMs);
  lastGroup = answers.length;
  const refused: [number, string][] = [];
  for (const [index, reason] of answers.entries()) if (reason !== null) refused.push([index, reason]);
  answer({ type: 'settled', count: answers.length, refused });
  work.onStorage(() => writer.restIfOverfull());
}

function serve(first: ToLedger): void {
  if (first.type === 'commit') gather();
  take(first);
  drain();
  for (let next = inbox[0]; next; next = inbox[0]) {
    work.round(); // a flood leaves the timer no room
    if (next.type === 'commit') commitGroup();
    else {
      inbox.shift();
      serveOther(next);
    }
  }
  if (closing) return;
  if (performance.now() - restedAtMs >= REST_AT_LEAST_MS) rest();
  else quiet.refresh();
}

function serveOther(message: Exclude<ToLedger, { type: 'commit' | 'part' }>): void {
  try {
    if (message.type === 'load') return answer({ type: 'answer', id: message.id, image: work.onStorage(() => writer.load(message.nonceWindowMs)) });
    if (message.type === 'load-past') return answer({ type: 'answer', id: message.id, past: work.onStorage(() => writer.loadPast(message.after)) });
    if (message.type === 'probe') work.onStorage(() => writer.probe());
    if (message.type === 'acknowledge') work.onStorage(() => writer.acknowledge(message.ids, message.by));
    if (message.type === 'archived') {
      work.onStorage(() => writer.noteArchive(message.draft));
      cutLater(CUT_PAUSE_MS);
    }
    if (message.type === 'close') {
      closing = true;
      clearTimeout(quiet);
      clearTimeout(cutting);
      clearInterval(marking);
      clearInterval(rounds);
      work.onStorage(() => writer.close());
    }
    answer({ type: 'answer', id: message.id });
    if (message.type === 'close') inlet.close();
  } catch (fault) {
    answer({ type: 'answer', id: message.id, fault: (fault as Error).message });
  }
}

function rest(): void {
  work.onStorage(() => writer.rest());
  restedAtMs = performance.now();
  tellCheckpoints();
  if (!writer.hasUnsignedRecords) {
    unsignedSinceMs = null;
    return;
  }
  unsignedSinceMs ??= performance.now();
  if (performance.now() - unsignedSinceMs >= SIGN_AFTER_MS) {
    work.onStorage(() => writer.signEnd());
    unsignedSinceMs = null;
    return;
  }
  quiet.refresh();
}

function tellCheckpoints(): void {
  const { checkpointTrouble: trouble } = writer;
  if (trouble === checkpointTrouble) return;
  checkpointTrouble = trouble;
  answer({ type: 'checkpoints', trouble });
}

/** Archived records leave the table between the commits, with pauses in which those are served. */
function cut(): void {
  const started = performance.now();
  try {
    if (!writer.hasArchivedRecords) return;
    work.onStorage(() => writer.removeArchived());
    cutLater(Math.max(CUT_PAUSE_MS, CUT_SHARE * (performance.now() - started)));
  } catch {
    cutLater(CUT_AGAIN_MS); // a full disk: the records are in the table and in the file, and read from the table
  }
}

function cutLater(afterMs: number): void {
  clearTimeout(cutting);
  if (!closing) cutting = setTimeout(cut, afterMs);
}

const marking = setInterval(() => {
  work.onStorage(() => writer.mark());
  if (performance.now() - restedAtMs >= REST_AT_LEAST_MS && writer.isCheckpointDue) rest(); // one that failed is tried again though nothing comes
  tellCheckpoints();
}, MARK_MS);
const rounds = setInterval(() => work.round(), ROUND_MS);
let cutting: ReturnType<typeof setTimeout> | undefined;
const quiet = setTimeout(rest, QUIET_MS);
inlet.on('message', serve);
cutLater(QUIET_MS); // what a crash left in the table
answer({ type: 'ready', gaps: writer.gaps, fresh: writer.newGaps.map(({ id }) => id) });
