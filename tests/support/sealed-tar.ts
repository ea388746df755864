/** Backups that no program of ours has made, for tests of what is refused. */
import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';

import { opened, type OpenedWith, sealed } from '../../src/platform/backup/sealed-file.js';
import { tarEnd, tarHeader, tarPadding } from '../../src/platform/backup/tar.js';

export interface KeyPair {
  readonly identity: string;
  readonly recipient: string;
}

export async function keyPair(): Promise<KeyPair> {
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
}

export interface Member {
  readonly name: string;
  readonly content: Buffer;
  /** Of ustar; a plain file when absent. */
  readonly type?: string;
}

export function tarOf(members: readonly Member[]): Buffer {
  const pieces = members.flatMap(({ name, content, type }) => {
    const header = tarHeader({ name, bytes: content.length }, 0);
    if (type !== undefined) retype(header, type);
    return [header, content, tarPadding(content.length)];
  });
  return Buffer.concat([...pieces, tarEnd()]);
}

function retype(header: Buffer, type: string): void {
  header.write(type, 156);
  header.write('        ', 148);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
}

/** Packed and encrypted as a backup is. */
export async function writeSealed(file: string, tar: Buffer, recipient: string): Promise<void> {
  const whole = [gzipSync(tar)];
  await pipeline(Readable.from(await sealed(Readable.from(whole), { recipients: [recipient] })), createWriteStream(file));
}

/** What is in one, by its names and in their order. */
export async function membersOf(file: string, keys: OpenedWith): Promise<Member[]> {
  const pieces: Uint8Array[] = [];
  for await (const piece of opened(file, keys)) pieces.push(piece);
  const tar = gunzipSync(Buffer.concat(pieces));
  const found: Member[] = [];
  for (let at = 0; tar[at] !== 0; ) {
    const name = tar.toString('utf8', at, at + 100).split('\0')[0] ?? '';
    const bytes = parseInt(tar.toString('utf8', at + 124, at + 135), 8);
    found.push({ name, content: tar.subarray(at + 512, at + 512 + bytes) });
    at += 512 + Math.ceil(bytes / 512) * 512;
  }
  return found;
}
