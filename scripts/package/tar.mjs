// A tar archive that is the same for the same files: sorted names, one instant, owner 0, two modes. POSIX.1-1988 (ustar), which every tar reads.
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';

const BLOCK = 512;
const NAME_MAX = 100;
const PREFIX_MAX = 155;
const TYPES = { file: '0', link: '2', folder: '5' };

/**
 * @typedef Entry `name` (path in the archive, no slash at either end), and one of `from` (a file on disk), `contents` (a Buffer or text), `link` (where it leads);
 *   none of them is a folder. `program`: it may be executed.
 */

/** @returns what stands in the archive: the entries and the folders that they need, in the order of their names' bytes. */
export function withFolders(entries) {
  const folders = new Set(entries.flatMap(({ name }) => foldersOf(name)));
  const named = new Map(entries.map((entry) => [entry.name, entry]));
  for (const folder of folders) if (!named.has(folder)) named.set(folder, { name: folder });
  return [...named.values()].sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
}

/** Writes the archive; @returns bytes of the files in it. */
export function writeTar(file, entries, epochS) {
  const out = openSync(file, 'w');
  let bytes = 0;
  try {
    for (const entry of withFolders(entries)) {
      const contents = contentsOf(entry);
      bytes += contents.length;
      writeAll(out, header(entry, contents.length, epochS));
      writeAll(out, contents);
      writeAll(out, Buffer.alloc(padding(contents.length)));
    }
    writeAll(out, Buffer.alloc(2 * BLOCK));
  } finally {
    closeSync(out);
  }
  return bytes;
}

/** A write may take less than it is given: on a full disk, and of more than 2 GiB always. `write` as that of node:fs. */
export function writeAll(fd, bytes, write = writeSync) {
  for (let at = 0; at < bytes.length; ) at += write(fd, bytes, at);
}

/** What kind of entry it is. */
export function kindOf(entry) {
  if (entry.link !== undefined) return 'link';
  return entry.from === undefined && entry.contents === undefined ? 'folder' : 'file';
}

/** Mode of an entry: what may be executed, and folders, are 0755, the rest 0644; whoever checked out with another umask builds the same. */
export function modeOf(entry) {
  return kindOf(entry) === 'folder' || entry.program ? 0o755 : kindOf(entry) === 'link' ? 0o777 : 0o644;
}

export function contentsOf({ from, contents }) {
  return from === undefined ? Buffer.from(contents ?? '') : readFileSync(from);
}

function foldersOf(name) {
  const parts = name.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}

function padding(bytes) {
  return (BLOCK - (bytes % BLOCK)) % BLOCK;
}

function header(entry, size, epochS) {
  const kind = kindOf(entry);
  const { name, prefix } = split(kind === 'folder' ? `${entry.name}/` : entry.name);
  const block = Buffer.alloc(BLOCK);
  const text = (value, at) => block.write(value, at, 'utf8');
  const octal = (value, at, width) => text(value.toString(8).padStart(width - 1, '0'), at);
  text(name, 0);
  octal(modeOf(entry), 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(epochS, 136, 12);
  text(' '.repeat(8), 148); // the checksum counts its own field as blanks
  text(TYPES[kind], 156);
  text(entry.link ?? '', 157);
  text('ustar\u000000', 257);
  text(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  text(`${sum.toString(8).padStart(6, '0')}\u0000 `, 148);
  return block;
}

/** @throws when the format has no place for the name; none of ours is that long */
function split(name) {
  if (Buffer.byteLength(name) <= NAME_MAX) return { name, prefix: '' };
  for (let at = name.indexOf('/'); at >= 0; at = name.indexOf('/', at + 1)) {
    const [prefix, rest] = [name.slice(0, at), name.slice(at + 1)];
    if (rest !== '' && Buffer.byteLength(rest) <= NAME_MAX && Buffer.byteLength(prefix) <= PREFIX_MAX) return { name: rest, prefix };
  }
  throw new Error(`${name} is too long for a tar archive`);
}
