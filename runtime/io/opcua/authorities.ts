/**
 * The authorities that this box trusts: one certificate a file, PEM, in a folder that people fill. What stands there and is no certificate file is
 * not waited for: a pipe has no end, and a thread of the process that opens one is gone for good.
 */
import { X509Certificate } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import path from 'node:path';

/** Folder of authorities below the folder of the driver. */
const AUTHORITIES = 'authorities';
/** A certificate is some thousand bytes long. */
const FILE_BYTES_MAX = 64 * 1024;
const FILES_MAX = 200;

export interface Authorities {
  readonly folder: string;
  readonly trusted: readonly X509Certificate[];
  /** Files that are not read, each with the reason, as text for the operator. */
  readonly unfit: readonly string[];
  /** Why the folder itself is not read; '' where it is, or where nobody has made it. */
  readonly fault: string;
}

/** Read at each connect, beside everything else that the thread does: a person may add one at any time. */
export async function authoritiesBelow(parent: string): Promise<Authorities> {
  const folder = path.join(parent, AUTHORITIES);
  let names: string[] = [];
  try {
    names = (await readdir(folder)).sort();
  } catch (fault) {
    const { code, message } = fault as NodeJS.ErrnoException;
    if (code !== 'ENOENT') return { folder, trusted: [], unfit: [], fault: message };
  }
  const trusted: X509Certificate[] = [];
  const unfit = names.length > FILES_MAX ? [`${names.length - FILES_MAX} files behind the first ${FILES_MAX}`] : [];
  for (const name of names.slice(0, FILES_MAX)) {
    const found = await authorityIn(path.join(folder, name));
    if (typeof found === 'string') unfit.push(`${name} (${found})`);
    else if (found) trusted.push(found);
  }
  return { folder, trusted, unfit, fault: '' };
}

/** A text says why the file is not read; undefined: it holds no authority. */
async function authorityIn(file: string): Promise<X509Certificate | string | undefined> {
  let bytes: Buffer | string;
  try {
    bytes = await regularFile(file);
  } catch (fault) {
    return fault instanceof Error ? fault.message : String(fault);
  }
  if (typeof bytes === 'string') return bytes;
  try {
    const authority = new X509Certificate(bytes);
    return authority.ca ? authority : undefined;
  } catch {
    return undefined; // no certificate
  }
}

/** Its bytes, or why it is not read. */
async function regularFile(file: string): Promise<Buffer | string> {
  // before it is opened: that alone would wait for whoever writes to a pipe
  if (!(await stat(file)).isFile()) return 'no regular file';
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK); // it may have become a pipe meanwhile
  try {
    if (!(await handle.stat()).isFile()) return 'no regular file';
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(FILE_BYTES_MAX + 1), 0, FILE_BYTES_MAX + 1, 0);
    return bytesRead > FILE_BYTES_MAX ? `longer than ${FILE_BYTES_MAX} bytes` : buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}
