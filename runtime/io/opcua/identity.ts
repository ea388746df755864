/**
 * What this box shows to OPC UA servers as itself: an application URI, and a certificate with its key, made once in the data
 * directory. A server trusts the certificate, so it outlives updates; who moves the data directory moves the identity.
 */
import { createPrivateKey, createHash, type KeyObject, X509Certificate } from 'node:crypto';
import { constants, existsSync, readFileSync } from 'node:fs';
import { chmod, link, mkdir, mkdtemp, open, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { notice } from '../notices.js';
import { OpcUaFault } from './status.js';

const CERTIFICATE = 'certificate.pem';
const KEY = 'key.pem';
const FOLDER = 'identity';
/** Which certificate this box has shown last, so that a lost one is told from a first one. */
const LAST = 'last-certificate.txt';
/** One that was put back from an old backup has ended as well. */
const FOLLOWERS_MAX = 10;
const FILE_BYTES_MAX = 100_000;
const DAY_MS = 86_400_000;
const VALID_DAYS = 3650;
/** Well back: a box whose clock has not been set yet makes its certificate too. */
const VALID_FROM_MS = Date.UTC(2020, 0, 1);
/** No clock is right that is behind this. */
const EARLIEST_MS = Date.UTC(2026, 0, 1);
const APPLICATION = 'Lineside';

export interface ClientIdentity {
  readonly applicationUri: string;
  readonly certificatePem: string;
  /** DER. */
  readonly certificate: Buffer;
  readonly key: KeyObject;
}

/** SHA-256 of a certificate in DER, as lower-case hexadecimal text. */
export function fingerprint(certificate: Buffer): string {
  return createHash('sha256').update(certificate).digest('hex');
}

/** A pair from elsewhere. @throws Error when it is none. */
export function identityOf(certificatePem: string, keyPem: string): ClientIdentity {
  const certificate = new X509Certificate(certificatePem);
  const key = createPrivateKey(keyPem);
  if (!certificate.checkPrivateKey(key)) throw new Error('the key does not belong to the certificate');
  return { applicationUri: uriOf(certificate), certificatePem, certificate: certificate.raw, key };
}

/** The application URI that a certificate carries (OPC 10000-6, 6.2.2); '' when it carries none. */
export function uriOf({ subjectAltName }: X509Certificate): string {
  return /(?:^|, )URI:"?([^,"]+)/.exec(subjectAltName ?? '')?.[1] ?? '';
}

/** By folder: modules of one thread that connect at once look, and make, together. */
const looking = new Map<string, Promise<ClientIdentity>>();

/**
 * The identity of this box: made when there is none, its certificate made anew from the same key when the clock says that it is not valid. Files come into being
 * complete: they get their name when they are on the disk, and of two threads that make them the first one counts.
 * @throws OpcUaFault with a sentence that names the file and the way out.
 */
export function ownIdentity(folder: string, wallMs = Date.now()): Promise<ClientIdentity> {
  const found = looking.get(folder) ?? lookedFor(folder, wallMs).finally(() => looking.delete(folder));
  looking.set(folder, found);
  return found;
}

async function lookedFor(folder: string, wallMs: number): Promise<ClientIdentity> {
  const home = path.join(folder, FOLDER);
  if (!existsSync(path.join(home, KEY)) && !existsSync(path.join(home, CERTIFICATE))) await make(folder, home, wallMs);
  const key = await keyIn(home);
  if (!existsSync(path.join(home, CERTIFICATE))) await makeCertificate(folder, home, wallMs, 'its certificate was not there', CERTIFICATE);
  let found = await pairIn(home, key);
  for (let tries = 0; tries < FOLLOWERS_MAX; tries += 1) {
    const reason = unfit(new X509Certificate(found.certificate), wallMs);
    if (reason === '') break;
    await follow(folder, home, wallMs, reason, found);
    found = await pairIn(home, key);
  }
  return found;
}

/** Why the certificate is of no use and a new one would be; '' when it is of use, or the clock is wrong. */
function unfit({ validFrom, validTo }: X509Certificate, wallMs: number): string {
  if (Date.parse(validTo) < wallMs) return `the one before has ended: ${validTo}`;
  // made while the clock was ahead; a clock that is behind is no reason to make one that nobody knows yet
  return wallMs >= EARLIEST_MS && Date.parse(validFrom) > wallMs ? `the one before is not valid before ${validFrom}` : '';
}

const WAY_OUT = 'put it back from a backup, or remove the folder: a new identity is then made, which every server has to be told to trust';

async function keyIn(home: string): Promise<string> {
  const file = path.join(home, KEY);
  const pem = await plainText(file, home);
  try {
    createPrivateKey(pem);
  } catch {
    throw damaged(file, 'it holds no private key', home);
  }
  await ownKeyOnly(file);
  return pem;
}

async function pairIn(home: string, keyPem: string): Promise<ClientIdentity> {
  const file = path.join(home, CERTIFICATE);
  const pem = await plainText(file, home);
  try {
    return identityOf(pem, keyPem);
  } catch (fault) {
    const reason = fault instanceof Error && /does not belong/.test(fault.message) ? 'the key beside it is not its own' : 'it holds no certificate';
    throw damaged(file, reason, home);
  }
}

function damaged(file: string, reason: string, home: string): OpcUaFault {
  return new OpcUaFault('refused', `the own identity of this box is damaged: ${file}: ${reason}; ${WAY_OUT.replace('the folder', home)}`, 'BadConfigurationError');
}

/** Of a plain file: a pipe is waited at for ever. */
async function plainText(file: string, home: string): Promise<string> {
  try {
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) throw new Error('it is no file');
      if (stats.size > FILE_BYTES_MAX) throw new Error(`it is longer than ${FILE_BYTES_MAX} bytes`);
      return await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  } catch (fault) {
    throw damaged(file, fault instanceof Error ? fault.message : String(fault), home);
  }
}

/** Nobody else reads the key. */
async function ownKeyOnly(file: string): Promise<void> {
  const { mode } = await stat(file);
  if ((mode & 0o077) === 0) return;
  await chmod(file, 0o600);
  notice({
    action: 'Update',
    sha256: '',
    message: `others of this machine could read the key of the OPC UA identity (mode ${(mode & 0o777).toString(8)}); its mode is 600 now: who may have read it can pass for this box`,
  });
}

async function make(folder: string, home: string, wallMs: number): Promise<void> {
  await inWorkFolder(folder, async (work) => {
    const { certificatePem, keyPem } = await signed(work, wallMs, undefined);
    const made = path.join(work, FOLDER);
    await mkdir(made, { mode: 0o700 });
    await write(path.join(made, KEY), keyPem, 0o600);
    await write(path.join(made, CERTIFICATE), certificatePem, 0o644);
    await synced(made);
    await rmdir(home).catch(() => undefined); // an empty one; another thread may have filled it meanwhile
    try {
      await rename(made, home);
    } catch (fault) {
      if (!existsSync(home)) throw fault;
      return; // another thread was first
    }
    await synced(folder);
    const before = lastShown(folder);
    const sha256 = await shownFromNowOn(folder, certificatePem);
    notice({
      action: 'Create',
      sha256,
      message:
        before === ''
          ? `this box has made its OPC UA identity, SHA-256 ${sha256}`
          : `the OPC UA identity of this box was lost and is made anew, SHA-256 ${sha256} instead of ${before}: every server has to be told to trust it`,
    });
  });
}

/** Under this name in `home`, unless another thread is first. */
async function makeCertificate(folder: string, home: string, wallMs: number, reason: string, name: string): Promise<void> {
  await inWorkFolder(folder, async (work) => {
    const { certificatePem } = await signed(work, wallMs, await keyIn(home));
    const made = path.join(work, CERTIFICATE);
    await write(made, certificatePem, 0o644);
    if (!(await named(made, path.join(home, name)))) return;
    await synced(home);
    const sha256 = await shownFromNowOn(folder, certificatePem);
    notice({
      action: 'Update',
      sha256,
      message: `the OPC UA certificate of this box is made anew from the same key, SHA-256 ${sha256} (${reason}): servers that trust the one before have to be told to trust it`,
    });
  });
}

/** Whether the file got the name, which it does not where there is one already. */
async function named(file: string, name: string): Promise<boolean> {
  try {
    await link(file, name);
    return true;
  } catch (fault) {
    if (!existsSync(name)) throw fault;
    return false;
  }
}

/** Puts the one certificate that follows this one into its place. Which one that is stands in a file of its own, so that threads that find it unfit at once agree. */
async function follow(folder: string, home: string, wallMs: number, reason: string, before: ClientIdentity): Promise<void> {
  const follower = `after-${fingerprint(before.certificate)}.pem`;
  if (!existsSync(path.join(home, follower))) await makeCertificate(folder, home, wallMs, reason, follower);
  await inWorkFolder(folder, async (work) => {
    const [next, place] = [path.join(work, CERTIFICATE), path.join(home, CERTIFICATE)];
    await write(next, await plainText(path.join(home, follower), home), 0o644); // a copy: who writes to the one leaves the other as it is
    if ((await plainText(place, home)) === before.certificatePem) await rename(next, place);
    await synced(home);
  });
}

let passing: Promise<ClientIdentity> | undefined;

/** For a channel without security while the own identity is damaged: the library wants a certificate, and the server does not look at it. It is kept nowhere. */
export function passingIdentity(folder: string, wallMs: number): Promise<ClientIdentity> {
  passing ??= (async () => {
    let made: Awaited<ReturnType<typeof signed>> | undefined;
    await inWorkFolder(folder, async (work) => {
      made = await signed(work, wallMs, undefined);
    });
    return identityOf(made?.certificatePem ?? '', made?.keyPem ?? '');
  })();
  passing.catch(() => {
    passing = undefined; // the disk may be there again
  });
  return passing;
}

async function inWorkFolder(folder: string, work: (folder: string) => Promise<void>): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await sweep(folder);
  const place = await mkdtemp(path.join(folder, workName()));
  try {
    await work(place);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

const WORK = '.new-';
/** What a making takes at the most; what is older was left behind by a process that died. */
const LEFT_MS = 600_000;

/** Says when it was made by a clock that nobody sets: that of this boot, which all threads share. */
function workName(): string {
  return `${WORK}${bootId()}-${uptimeMs()}-`;
}

function isLeft(name: string): boolean {
  const [boot, madeMs] = name.slice(WORK.length).split('-');
  return boot !== bootId() || !(uptimeMs() - Number(madeMs) < LEFT_MS);
}

const uptimeMs = (): number => Number(process.hrtime.bigint() / 1_000_000n);

const bootId = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8);

async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder)) if (name.startsWith(WORK) && isLeft(name)) await rm(path.join(folder, name), { recursive: true, force: true });
}

async function signed(work: string, wallMs: number, keyPem: string | undefined): Promise<{ readonly certificatePem: string; readonly keyPem: string }> {
  const { OPCUACertificateManager } = await import('node-opcua-certificate-manager');
  const root = path.join(work, 'pki');
  if (keyPem !== undefined) {
    const folder = path.join(root, 'own', 'private');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await write(path.join(folder, 'private_key.pem'), keyPem, 0o600);
  }
  const manager = new OPCUACertificateManager({ rootFolder: root, keySize: 2048, disableFileWatchers: true });
  const outputFile = path.join(work, 'own.pem');
  try {
    await manager.initialize();
    await manager.createSelfSignedCertificate({
      applicationUri: `urn:${hostname()}:${APPLICATION}`,
      subject: `/CN=${APPLICATION}@${hostname()}`,
      dns: [hostname()],
      startDate: new Date(VALID_FROM_MS),
      validity: VALID_DAYS + Math.ceil((Math.max(wallMs, EARLIEST_MS) - VALID_FROM_MS) / DAY_MS),
      outputFile,
    });
  } finally {
    await manager.dispose();
  }
  return { certificatePem: readFileSync(outputFile, 'utf8'), keyPem: readFileSync(manager.privateKey, 'utf8') };
}

function lastShown(folder: string): string {
  try {
    return readFileSync(path.join(folder, LAST), 'utf8').trim().slice(0, 64);
  } catch {
    return '';
  }
}

async function shownFromNowOn(folder: string, certificatePem: string): Promise<string> {
  const sha256 = fingerprint(new X509Certificate(certificatePem).raw);
  await write(path.join(folder, LAST), `${sha256}\n`, 0o644);
  return sha256;
}

/** On the disk before it is moved to its place. */
async function write(file: string, text: string, mode: number): Promise<void> {
  const handle = await open(file, 'w', mode);
  try {
    await handle.chmod(mode);
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function synced(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
