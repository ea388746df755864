/**
 * The manifest of a package: the file itself, or the one member of the archive (`.mtp`, a zip) that is AutomationML. Everything is read in
 * memory: no member is written anywhere, none but the manifest is unpacked, and an archive within the archive is not opened.
 */
import { type Entry, fromBuffer, type ZipFile } from 'yauzl';
import { LIMITS } from './limits.js';
import { plain, type Report, Unreadable } from './report.js';

/** The xml of a package with its name. */
export interface ManifestFile {
  readonly name: string;
  readonly bytes: Buffer;
}

const ZIP_BEGINS = [0x50, 0x4b] as const; // PK
/** Bit 0 of the general purpose flags (APPNOTE 4.4.4). */
const ENCRYPTED = 1;

/** @throws Unreadable. */
export async function manifestIn(bytes: Buffer, fileName: string, report: Report): Promise<ManifestFile> {
  if (bytes.length === 0) throw new Unreadable(fileName, 'the file is empty');
  if (bytes.length > LIMITS.packageBytes) throw new Unreadable(fileName, `the file has ${bytes.length} bytes, and a package may have ${LIMITS.packageBytes}`);
  if (bytes[0] !== ZIP_BEGINS[0] || bytes[1] !== ZIP_BEGINS[1]) return { name: fileName, bytes };
  const zip = await opened(bytes, fileName);
  if (zip.entryCount > LIMITS.members) throw new Unreadable(fileName, `the archive has ${zip.entryCount} members, and a package may have ${LIMITS.members}`);
  const entries = await entriesOf(zip, fileName);
  const chosen = chooseManifest(entries, fileName);
  for (const entry of entries) {
    if (entry === chosen || entry.fileName.endsWith('/')) continue;
    report.add('info', entry.fileName, 'a member of the archive beside its manifest: it is not read');
  }
  return { name: chosen.fileName, bytes: await unpacked(zip, chosen) };
}

function opened(bytes: Buffer, fileName: string): Promise<ZipFile> {
  return new Promise((resolve, reject) => {
    fromBuffer(bytes, { lazyEntries: true, validateEntrySizes: true }, (fault, zip) => (fault ? reject(broken(fileName, fault)) : resolve(zip)));
  });
}

const broken = (path: string, fault: Error): Unreadable => new Unreadable(path, `the archive cannot be read: ${plain(fault.message, 200)}`);

/** All members by what the archive says of them. A name that leads out of the archive is refused by the reader of archives. */
function entriesOf(zip: ZipFile, fileName: string): Promise<readonly Entry[]> {
  return new Promise((resolve, reject) => {
    const entries: Entry[] = [];
    const names = new Set<string>();
    zip.on('entry', (entry: Entry) => {
      const why = refusedMember(entry, names);
      if (why !== '') return reject(new Unreadable(plain(entry.fileName), why));
      names.add(entry.fileName);
      entries.push(entry);
      if (entries.length > LIMITS.members) return reject(new Unreadable(fileName, `the archive has more than ${LIMITS.members} members`));
      zip.readEntry();
    });
    zip.once('end', () => resolve(entries));
    zip.once('error', (fault: Error) => reject(broken(fileName, fault)));
    zip.readEntry();
  });
}

/** Why an archive with such a member is refused; '' where it is not. */
function refusedMember({ fileName, generalPurposeBitFlag }: Entry, names: ReadonlySet<string>): string {
  if (fileName.length > LIMITS.memberNameLength) return `the name of a member has ${fileName.length} characters, and one may have ${LIMITS.memberNameLength}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[\u0000-\u001f\u007f]/u.test(fileName)) return 'the name of a member has control characters';
  if (names.has(fileName)) return 'two members of the archive have this name, so nobody can tell which one is meant';
  return (generalPurposeBitFlag & ENCRYPTED) === 0 ? '' : 'the member is encrypted; send the package without a password';
}

/** `manifest.aml` of the highest folder, else the only AutomationML file. */
function chooseManifest(entries: readonly Entry[], fileName: string): Entry {
  const xml = entries.filter((entry) => /\.(aml|xml)$/i.test(entry.fileName));
  const aml = xml.filter((entry) => /\.aml$/i.test(entry.fileName));
  const named = xml.filter((entry) => /(^|\/)manifest\.(aml|xml)$/i.test(entry.fileName)).sort((a, b) => depthOf(a) - depthOf(b));
  const [first, second] = named;
  if (first && (!second || depthOf(first) < depthOf(second))) return first;
  const [only, ...others] = aml.length > 0 ? aml : xml;
  if (only && others.length === 0) return only;
  const found = [...(only ? [only] : []), ...others].slice(0, 5).map((entry) => plain(entry.fileName));
  if (found.length === 0) throw new Unreadable(fileName, 'the archive has no AutomationML file (.aml), so there is no manifest in it');
  throw new Unreadable(fileName, `several files may be the manifest: ${found.join(', ')}; name the right one manifest.aml`);
}

const depthOf = ({ fileName }: Entry): number => fileName.split('/').length;

async function unpacked(zip: ZipFile, entry: Entry): Promise<Buffer> {
  const { fileName, uncompressedSize, compressedSize } = entry;
  if (uncompressedSize > LIMITS.manifestBytes) throw tooLong(fileName);
  const isBomb = uncompressedSize > LIMITS.smallBytes && uncompressedSize > compressedSize * LIMITS.ratio;
  if (isBomb) throw new Unreadable(fileName, `it unpacks to ${uncompressedSize} bytes out of ${compressedSize}, which no manifest does`);
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (fault, stream) => {
      if (fault) return reject(broken(fileName, fault));
      const pieces: Buffer[] = [];
      let length = 0;
      stream.on('data', (piece: Buffer) => {
        length += piece.length;
        // whatever its header says
        if (length > LIMITS.manifestBytes) {
          stream.destroy();
          reject(tooLong(fileName));
        } else pieces.push(piece);
      });
      stream.once('end', () => resolve(Buffer.concat(pieces)));
      stream.once('error', (reason: Error) => reject(broken(fileName, reason)));
    });
  });
}

const tooLong = (path: string): Unreadable => new Unreadable(path, `the manifest unpacks to more than ${LIMITS.manifestBytes} bytes`);
