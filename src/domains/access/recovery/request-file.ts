/**
 * How `lineside recover-admin` asks the running box for an administrator: a file in the data directory, where only the user of the service and root
 * can write, and an answer beside it. Nothing of it goes over the network, and the plant is not stopped for it. The password itself is in neither.
 */
import { closeSync, fchownSync, fsyncSync, linkSync, lstatSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import * as v from 'valibot';
import { isThere, readDataFile } from '../../../platform/base/data-file.js';

const BYTES_MAX = 4096;
const WRITABLE_BY_OTHERS = 0o022;

const RecoveryRequest = v.strictObject({
  id: v.pipe(v.string(), v.uuid()),
  username: v.string(),
  /** PHC string, as of an account. */
  passwordHash: v.string(),
  /** Of the system, who typed the command, and behind sudo who has typed that; as he says it. */
  systemUser: v.pipe(v.string(), v.maxLength(160)),
});
export type RecoveryRequest = Readonly<v.InferOutput<typeof RecoveryRequest>>;

const RecoveryAnswer = v.strictObject({ id: v.string(), done: v.boolean(), message: v.string() });
export type RecoveryAnswer = Readonly<v.InferOutput<typeof RecoveryAnswer>>;

const requestIn = (dataDir: string): string => path.join(dataDir, 'recover-admin.json');
const answerIn = (dataDir: string): string => path.join(dataDir, 'recover-admin.answer.json');

/** As `node:fs` throws where it cannot be put there; a request that waits already is another one's. */
export function putRequest(dataDir: string, request: RecoveryRequest): void {
  put(requestIn(dataDir), request, dataDir);
}

/** @returns undefined where none waits. @throws Error in a sentence for what is none; it is gone then. */
export function takeRequest(dataDir: string): RecoveryRequest | undefined {
  const file = requestIn(dataDir);
  if (!isThere(file)) return undefined;
  try {
    if (lstatSync(file).mode & WRITABLE_BY_OTHERS) throw new Error(`${file} can be written by others than its owner`);
    return v.parse(RecoveryRequest, JSON.parse(readDataFile(file, 'remove it', BYTES_MAX)?.toString('utf8') ?? ''));
  } finally {
    rmSync(file, { recursive: true, force: true });
  }
}

/** Nobody has taken it. @returns whether it was still there. */
export function withdrawRequest(dataDir: string): boolean {
  const wasThere = isThere(requestIn(dataDir));
  rmSync(requestIn(dataDir), { force: true });
  return wasThere;
}

export function putAnswer(dataDir: string, answer: RecoveryAnswer): void {
  removeAnswer(dataDir);
  put(answerIn(dataDir), answer, dataDir);
}

/** Undefined while there is none, and for one to somebody else. */
export function readAnswer(dataDir: string, id: string): RecoveryAnswer | undefined {
  try {
    const answer = v.parse(RecoveryAnswer, JSON.parse(readDataFile(answerIn(dataDir), '', BYTES_MAX)?.toString('utf8') ?? ''));
    return answer.id === id ? answer : undefined;
  } catch {
    return undefined; // it is being written
  }
}

export function removeAnswer(dataDir: string): void {
  rmSync(answerIn(dataDir), { recursive: true, force: true });
}

/**
 * There at once and whole, or not at all. What root puts there belongs to the user of the service, who reads it; a link that somebody has put in
 * its place is not followed.
 */
function put(file: string, content: object, dataDir: string): void {
  const draft = `${file}.${randomUUID()}`;
  const fd = openSync(draft, 'wx', 0o600);
  try {
    writeSync(fd, `${JSON.stringify(content)}\n`);
    fsyncSync(fd);
    const { uid, gid } = statSync(dataDir);
    if (process.getuid?.() === 0 && uid !== 0) fchownSync(fd, uid, gid);
    linkSync(draft, file);
  } finally {
    closeSync(fd);
    rmSync(draft, { force: true });
  }
}
