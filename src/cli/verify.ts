/**
 * `lineside verify FILE --key KEY`: whether an exported audit trail is what the box with that key signed. Asks no box and needs nothing but the
 * file, the key and this program, so that it can be done by whoever received the file.
 * Exit codes: 0 genuine and whole, 1 not, or not to be told without a key, 2 not to be read.
 */
import { closeSync, createReadStream, openSync, readSync, statSync } from 'node:fs';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { kindOf, readPlainFile } from '../platform/base/plain-file.js';
import { type Anchor, anchorsOf } from '../platform/ledger/anchors.js';
import { ExportVerifier, type ExportVerdict, keyIdOf } from '../platform/ledger/signed-export.js';
import type { Printer } from './replay.js';

export interface VerifyOptions {
  readonly key?: string;
  readonly anchors?: string;
  readonly json?: boolean;
}

const KEY_BYTES_MAX = 64 * 1024;
const ANCHORS_BYTES_MAX = 256 * 1024 * 1024;
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);

/** What is wrong with what was given, in one sentence. */
class Unusable extends Error {}

export async function verify(file: string, options: VerifyOptions, printer: Printer): Promise<number> {
  try {
    const key = options.key === undefined ? undefined : readKey(options.key);
    const anchors = options.anchors === undefined ? undefined : readAnchors(options.anchors, key);
    const verdict = await verdictOn(file, new ExportVerifier(key, anchors));
    if (options.json) printer.out(`${JSON.stringify({ ...verdict, anchors: anchors?.length ?? 0 }, null, 2)}\n`);
    else tell(verdict, { hasKey: key !== undefined, anchors: anchors?.length }, printer);
    return verdict.ok ? 0 : 1;
  } catch (fault) {
    if (!(fault instanceof Unusable)) throw fault;
    printer.say(`lineside: ${fault.message}`);
    return 2;
  }
}

async function verdictOn(file: string, verifier: ExportVerifier): Promise<ExportVerdict> {
  try {
    const kind = kindOf(statSync(file));
    if (kind !== 'file') throw new Error(`it is a ${kind}`);
    await pipeline([createReadStream(file), ...(isPacked(file) ? [createGunzip()] : []), taker(verifier)]);
  } catch (fault) {
    throw new Unusable(`${file} cannot be read: ${(fault as Error).message}`);
  }
  return verifier.end();
}

function readKey(file: string): ReturnType<typeof keyIdOf> {
  const text = readKeyFile(file);
  try {
    return keyIdOf(text);
  } catch (fault) {
    throw new Unusable(`--key ${file} is no public key of a box, which is the text of member publicKey alone, from BEGIN to END: ${(fault as Error).message}`);
  }
}

function readKeyFile(file: string): string {
  try {
    return readPlainFile(file, KEY_BYTES_MAX).toString('utf8');
  } catch (fault) {
    throw new Unusable(`--key ${file} cannot be read: ${(fault as Error).message}`);
  }
}

function isPacked(file: string): boolean {
  const begin = Buffer.alloc(GZIP_MAGIC.length);
  const fd = openSync(file, 'r');
  try {
    readSync(fd, begin);
  } finally {
    closeSync(fd);
  }
  return begin.equals(GZIP_MAGIC);
}

function taker(verifier: ExportVerifier): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      try {
        verifier.take(chunk);
      } catch (fault) {
        return done(fault as Error);
      }
      done();
    },
  });
}

/** Signed heads as the box kept them elsewhere, or as a receiver of syslog has written them among other lines; without a key they are taken as whoever kept them vouches for them. */
function readAnchors(file: string, key: ReturnType<typeof keyIdOf> | undefined): readonly Anchor[] {
  let text: string;
  try {
    text = readPlainFile(file, ANCHORS_BYTES_MAX).toString('utf8');
  } catch (fault) {
    throw new Unusable(`--anchors ${file} cannot be read: ${(fault as Error).message}`);
  }
  const { anchors, strange } = anchorsOf(text, key?.key, key?.keyId);
  const [first] = strange;
  if (first !== undefined)
    throw new Unusable(`--anchors ${file}: line ${first} is no anchor${key ? ' that was signed with this key' : ''}; somebody has changed the file, or it is of another box`);
  if (!key && new Set(anchors.map(({ kid }) => kid)).size > 1) throw new Unusable(`--anchors ${file} holds anchors of several boxes; --key says which of them is meant`);
  if (anchors.length === 0) throw new Unusable(`--anchors ${file} holds no anchor${key ? ' of the box with this key' : ''}: nothing can be held against it`);
  return anchors;
}

interface Given {
  readonly hasKey: boolean;
  readonly anchors: number | undefined;
}

function tell(verdict: ExportVerdict, { hasKey, anchors }: Given, { out, say }: Printer): void {
  const { records, firstSequence, lastSequence, signed, problems, problemsInAll, exportedAt, keyId } = verdict;
  out(`${records} records${records > 0 ? `, ${firstSequence} to ${lastSequence}` : ''}${exportedAt ? `, exported ${exportedAt}` : ''}${keyId ? `, key ${keyId}` : ''}\n`);
  if (hasKey && signed.valid > 0) out(`${signed.valid} electronic signatures in them are of this key\n`);
  if (signed.onTheBoxOnly > 0) out(`${signed.onTheBoxOnly} electronic signatures ${ofTheBoxAlone(verdict.ok, hasKey)}\n`);
  for (const problem of problems) say(`lineside: ${problem}`);
  if (problemsInAll > problems.length) say(`lineside: … and ${problemsInAll - problems.length} more`);
  if (anchors === undefined) out('no anchors were given: that the box itself was set back to an earlier time and lived on from there would not be seen\n');
  else out(`${anchors} anchors were looked at${verdict.anchored === anchors ? '' : `, and ${verdict.anchored} of them are of records in this file`}\n`);
  if (firstSequence > 1) out(`${beforeTheFirst(firstSequence)}\n`);
  if (verdict.ok) out('genuine: what stands in the file is what the box signed, and nothing was taken out, put in or changed\n');
  else if (problemsInAll === 0) out('not shown to be genuine: nothing contradicts itself, and without the key of the box (--key) anybody could have written it\n');
  else out('NOT GENUINE\n');
}

/** An export of some times, or of a box that has given its oldest archives away, is as genuine as a whole one and shows less. */
function beforeTheFirst(first: number): string {
  const last = first - 1;
  const which = last === 1 ? 'record 1 is' : `records 1 to ${last} are`;
  return `${which} not in this file: that they were there, and what is in them, it does not show; only that record ${first} was written behind one with the hash it names. An export without from shows the trail from its begin`;
}

/** What is known of signatures that nobody but the box can check: no more than of the file that they stand in. */
function ofTheBoxAlone(isGenuine: boolean, hasKey: boolean): string {
  if (!hasKey) return 'were not checked: no key was given';
  return `were made with the secret key of the box, which alone can check them${isGenuine ? '; that they stand here unchanged is shown' : ''}`;
}
