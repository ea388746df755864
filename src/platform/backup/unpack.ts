/**
 * Takes a backup apart into a folder: file by file as its manifest names them, and nothing else. The length of each is known before its
 * first byte, so what claims to be small and is not is refused where it goes beyond.
 */
import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, statfsSync, writeSync } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { syncFolder } from '../base/sync-folder.js';
import { type Manifest, MANIFEST_BYTES_MAX, MANIFEST_NAME, readManifest } from './manifest.js';
import { BackupRefused } from './refused.js';
import { opened, type OpenedWith } from './sealed-file.js';
import { shown, TarReader } from './tar.js';

const PLAIN_PIECE_BYTES = 256 * 1024;

/** @throws BackupRefused; what was written by then is of no use to anybody. */
export async function unpack(file: string, keys: OpenedWith, content: Manifest['content'], into: string): Promise<Manifest> {
  const plain = Readable.from(opened(file, keys), { objectMode: false });
  const gunzip = createGunzip({ chunkSize: PLAIN_PIECE_BYTES });
  plain.on('error', (fault) => gunzip.destroy(fault));
  plain.pipe(gunzip);
  try {
    return await unpackTar(new TarReader(gunzip as AsyncIterable<Buffer>), content, into);
  } catch (fault) {
    if (fault instanceof BackupRefused) throw fault;
    const { code = '', message } = fault as NodeJS.ErrnoException;
    if (code.startsWith('Z_')) throw new BackupRefused(`it is not packed as a backup is (${message})`);
    throw fault;
  } finally {
    gunzip.destroy();
    plain.destroy();
  }
}

async function unpackTar(tar: TarReader, content: Manifest['content'], into: string): Promise<Manifest> {
  const first = await tar.next();
  if (first?.name !== MANIFEST_NAME) throw new BackupRefused(`it is no backup of a box: it does not begin with ${MANIFEST_NAME}`);
  if (first.bytes > MANIFEST_BYTES_MAX) throw new BackupRefused(`its ${MANIFEST_NAME} is too long`);
  const pieces: Buffer[] = [];
  for await (const piece of tar.content(first.bytes)) pieces.push(piece);
  const manifest = readManifest(Buffer.concat(pieces).toString('utf8'), content);
  refuseWithoutRoom(manifest, into);
  for (const told of manifest.files) {
    const entry = await tar.next();
    if (!entry) throw new BackupRefused(`${shown(told.name)} is missing in it`);
    if (entry.name !== told.name) throw new BackupRefused(`${shown(entry.name)} stands where its manifest names ${shown(told.name)}`);
    if (entry.bytes !== told.bytes) throw new BackupRefused(`${shown(told.name)} in it has ${entry.bytes} bytes, and its manifest says ${told.bytes}`);
    const sha256 = await write(path.join(into, told.name), tar.content(told.bytes));
    if (sha256 !== told.sha256) throw new BackupRefused(`${shown(told.name)} in it is not what its manifest names: its SHA-256 is another`);
  }
  const behind = await tar.next();
  if (behind) throw new BackupRefused(`${shown(behind.name)} in it is not named by its manifest`);
  await tar.end();
  return manifest;
}

function refuseWithoutRoom({ files }: Manifest, into: string): void {
  const { bavail, bsize } = statfsSync(into);
  const needed = files.reduce((sum, { bytes }) => sum + bytes, 0);
  if (bavail * bsize < needed)
    throw new BackupRefused(`it takes ${Math.ceil(needed / 1e6)} MB, and there are ${Math.floor((bavail * bsize) / 1e6)} MB free below ${path.dirname(into)}; make room first`);
}

/** @returns the SHA-256 of what is on the disk by then. */
async function write(file: string, content: AsyncIterable<Buffer>): Promise<string> {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const hash = createHash('sha256');
  const fd = openSync(file, 'wx', 0o600);
  try {
    for await (const piece of content) {
      hash.update(piece);
      for (let at = 0; at < piece.length; ) at += writeSync(fd, piece, at, piece.length - at);
    }
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  syncFolder(path.dirname(file));
  return hash.digest('hex');
}
