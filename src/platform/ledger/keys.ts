/**
 * The keys of the appliance (decisions 8.6, Q-AUTH-01): made at first start, readable by the owner only, never in a
 * backup. A file appears whole or not at all, so a crash during the first start leaves nothing half written.
 */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { DataFileFault, faultOfStart, isThere, readDataFile, readDataFileIfUsable } from '../base/data-file.js';
import { StartRefused } from '../base/start-refused.js';
import { syncFolder } from '../base/sync-folder.js';

const HMAC_KEY_BYTES = 32; // decisions 8.6
const DEVICE_KEY = 'device-ed25519.pem';
const AUDIT_KEY = 'audit-hmac';
/** Folder of public keys, below that of the keys. */
const FORMER = 'former';
const WAY_OUT = 'restore it or move it away';

export interface DeviceKeys {
  /** Ed25519: signs session tokens and segment heads of the audit chain. */
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** First 32 hex digits of the SHA-256 of the public key: never shared between devices, the same after every start. */
  readonly deviceId: string;
  /** First 16 hex digits of the SHA-256 of the raw public key: `kid` of tokens, `keyId` of signatures. */
  readonly kid: string;
  /** HMAC-SHA256 key of the audit trail and of prompt responses. */
  readonly auditHmac: Buffer;
  /** First 16 hex digits of the SHA-256 of that key. */
  readonly auditKeyId: string;
  /** Public keys of the boxes that this one was restored from, by their `kid`: for what those have signed. */
  readonly former?: ReadonlyMap<string, KeyObject>;
}

/** The key that has signed as `kid`: that of this box, or of one that it was restored from. */
export function publicKeyOf(keys: Pick<DeviceKeys, 'kid' | 'publicKey' | 'former'>, kid: string): KeyObject | undefined {
  return kid === keys.kid ? keys.publicKey : keys.former?.get(kid);
}

/** Which keys are there, before any is made. */
export function storedKeysOf(dataDir: string): { readonly hasDeviceKey: boolean; readonly hasHmac: boolean } {
  const folder = path.join(dataDir, 'keys');
  return { hasDeviceKey: isThere(path.join(folder, DEVICE_KEY)), hasHmac: isThere(path.join(folder, AUDIT_KEY)) };
}

/** Reads the keys of a data directory; makes those that are not there yet. */
export function openDeviceKeys(dataDir: string): DeviceKeys {
  const folder = path.join(dataDir, 'keys');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const deviceFile = path.join(folder, DEVICE_KEY);
  const hmacFile = path.join(folder, AUDIT_KEY);
  const pem = readOrMake(deviceFile, () => Buffer.from(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })));
  const auditHmac = readOrMake(hmacFile, () => randomBytes(HMAC_KEY_BYTES));
  if (auditHmac.length !== HMAC_KEY_BYTES) throw new StartRefused(`the audit key ${hmacFile} must have ${HMAC_KEY_BYTES} bytes but has ${auditHmac.length}; ${WAY_OUT}`);
  const privateKey = privateKeyOf(pem);
  if (privateKey?.asymmetricKeyType !== 'ed25519') throw new StartRefused(`the device key ${deviceFile} is not an Ed25519 key; ${WAY_OUT}`);
  const publicKey = createPublicKey(privateKey);
  const fingerprint = sha256(rawPublicKey(publicKey));
  return {
    privateKey,
    publicKey,
    deviceId: fingerprint.slice(0, 32),
    kid: fingerprint.slice(0, 16),
    auditHmac,
    auditKeyId: sha256(auditHmac).slice(0, 16),
    former: formerKeysIn(folder),
  };
}

/** Beside the keys, once for each box that was. */
export function keepFormerKey(dataDir: string, kid: string, key: KeyObject): void {
  const folder = path.join(dataDir, 'keys', FORMER);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const fd = openSync(path.join(folder, `${kid}.pem`), 'w', 0o600);
  try {
    writeSync(fd, String(key.export({ type: 'spki', format: 'pem' })));
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  syncFolder(folder);
}

/** One that cannot be read verifies nothing, and keeps nobody from a start. */
function formerKeysIn(keysFolder: string): ReadonlyMap<string, KeyObject> {
  const folder = path.join(keysFolder, FORMER);
  const found = new Map<string, KeyObject>();
  if (!isThere(folder)) return found;
  try {
    for (const name of readdirSync(folder)) {
      const key = createPublicKey(readDataFileIfUsable(path.join(folder, name)) ?? Buffer.alloc(0));
      const kid = sha256(rawPublicKey(key)).slice(0, 16); // by what it is, whatever it is called
      found.set(kid, key);
    }
  } catch {
    return found;
  }
  return found;
}

function privateKeyOf(pem: Buffer): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined; // what OpenSSL says of it names no file
  }
}

/** The 32 bytes of an Ed25519 public key (RFC 8032). */
export function rawPublicKey(key: KeyObject): Buffer {
  const { x } = key.export({ format: 'jwk' });
  return Buffer.from(x ?? '', 'base64url');
}

function readOrMake(file: string, make: () => Buffer): Buffer {
  if (!isThere(file)) {
    const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
    const fd = openSync(draft, 'wx', 0o600);
    try {
      writeSync(fd, make());
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    try {
      linkSync(draft, file); // fails when another start was faster: then its key is the key
    } catch (fault) {
      if ((fault as NodeJS.ErrnoException).code !== 'EEXIST') throw fault;
    } finally {
      rmSync(draft, { force: true });
    }
    syncFolder(path.dirname(file));
  }
  try {
    return readDataFile(file, WAY_OUT) as Buffer;
  } catch (fault) {
    throw fault instanceof DataFileFault ? faultOfStart(fault.obstacle, fault.message) : fault;
  }
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
