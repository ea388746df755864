/**
 * What a backup says of itself: `manifest.json`, the first file in it. It names every file that follows with its length and SHA-256, in
 * their order, and is signed with the device key of the box: encryption for a public key says nothing of who has encrypted.
 */
import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import * as v from 'valibot';
import { exactBase64 } from '../base/exact-base64.js';
import { canonicalJson } from '../ledger/canonical-json.js';
import { type DeviceKeys, rawPublicKey } from '../ledger/keys.js';
import { BackupRefused } from './refused.js';
import { shown } from './tar.js';

export const MANIFEST_NAME = 'manifest.json';
export const MANIFEST_BYTES_MAX = 16 * 1024 * 1024;
/** Files of one backup: a box has some hundred at most. */
const FILES_MAX = 20_000;
/** The number rises when a reader of before would take a backup for what it is not. */
const FORMAT = /^lineside-box\/(\d{1,6})$/;
const FORMAT_VERSION = 1;
/** The 12 bytes in front of the 32 of an Ed25519 key (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

const Digest = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const Count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const FileEntry = v.object({ name: v.string(), bytes: Count, sha256: Digest });
export type FileEntry = Readonly<v.InferOutput<typeof FileEntry>>;

const Manifest = v.object({
  format: v.string(),
  /** `keys`: what is sealed apart. */
  content: v.picklist(['data', 'keys']),
  /** One for a backup and the keys that were sealed with it. */
  id: v.pipe(v.string(), v.uuid()),
  createdAt: v.pipe(v.string(), v.isoTimestamp()),
  product: v.object({ version: v.string(), commit: v.string() }),
  deviceId: v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/)),
  firstStart: v.string(),
  /** Version of the tables of `state.db`. */
  schema: Count,
  head: v.object({ sequence: Count, hash: v.string() }),
  auditKeyId: v.string(),
  /** Raw, of the device key; base64. Its SHA-256 begins with the device id. */
  publicKey: v.string(),
  counts: v.object({ auditRecords: Count, archivedRecords: Count, resources: Count, facts: Count }),
  /** Files that should be there and were not when the backup was made. */
  missing: v.array(v.string()),
  files: v.pipe(v.array(FileEntry), v.maxLength(FILES_MAX)),
  signature: v.string(),
});
export type Manifest = Readonly<v.InferOutput<typeof Manifest>>;
export type UnsignedManifest = Omit<Manifest, 'format' | 'signature' | 'publicKey' | 'deviceId' | 'auditKeyId'>;

export function signedManifest(told: UnsignedManifest, keys: DeviceKeys): Manifest {
  const base = {
    ...told,
    format: `lineside-box/${FORMAT_VERSION}`,
    deviceId: keys.deviceId,
    auditKeyId: keys.auditKeyId,
    publicKey: rawPublicKey(keys.publicKey).toString('base64'),
  };
  return { ...base, signature: sign(null, bytesOf(base), keys.privateKey).toString('base64') };
}

/** @throws BackupRefused naming what is wrong with it. */
export function readManifest(text: string, content: Manifest['content']): Manifest {
  const told = parsed(text);
  const version = Number(FORMAT.exec(String((told as { format?: unknown } | null)?.format))?.[1] ?? Number.NaN);
  if (Number.isNaN(version)) throw new BackupRefused('it is no backup of a box: its manifest.json has no format lineside-box/…');
  if (version > FORMAT_VERSION) throw new BackupRefused(`it has the format lineside-box/${version}, of a newer version of lineside: restore it with that one`);
  const read = v.safeParse(Manifest, told);
  if (!read.success) throw new BackupRefused(`its manifest.json is not one of this format: ${v.getDotPath(read.issues[0]) ?? ''} ${read.issues[0].message}`);
  const manifest = read.output;
  if (manifest.content !== content)
    throw new BackupRefused(
      manifest.content === 'keys' ? 'it holds the keys of a backup, not the backup; it belongs to --keys' : 'it holds a backup, not the keys that were sealed apart',
    );
  if (!isGenuine(told as Record<string, unknown>, manifest))
    throw new BackupRefused('its manifest.json was not signed by the box that it names: it was made or changed by somebody else');
  const names = new Set<string>();
  for (const { name } of manifest.files) {
    if (!isKnownName(name, content)) throw new BackupRefused(`it names ${shown(name)}, which is no file of a box`);
    if (names.has(name)) throw new BackupRefused(`it names ${shown(name)} twice`);
    names.add(name);
  }
  return manifest;
}

export function publicKeyOf({ publicKey }: Pick<Manifest, 'publicKey'>): KeyObject {
  return createPublicKey({ key: Buffer.concat([SPKI_PREFIX, Buffer.from(publicKey, 'base64')]), format: 'der', type: 'spki' });
}

/** First 16 hex digits of the SHA-256 of the public key: `kid` of what it signs. */
export function kidOf({ publicKey }: Pick<Manifest, 'publicKey'>): string {
  return fingerprint(publicKey).slice(0, 16);
}

/** What may stand in a backup, so that nothing else is ever written: no path leads out of the folder. */
const NAMES: Readonly<Record<Manifest['content'], readonly RegExp[]>> = {
  data: [
    /^state\.db$/,
    /^historian\.db$/,
    /^historian-journal-\d{16}\.bin$/,
    /^audit-archive\/[0-9A-Za-z][\w.-]{0,80}\.ndjson\.gz$/,
    /^config\.yaml$/,
    /^opcua\/(?!identity\/)(?:[0-9A-Za-z][\w.-]{0,60}\/){0,3}[0-9A-Za-z][\w.-]{0,60}$/,
  ],
  keys: [/^keys\/(audit-hmac|device-ed25519\.pem)$/, /^opcua\/identity\/[0-9A-Za-z][\w.-]{0,60}$/, /^secrets\/(?:[0-9A-Za-z][\w.-]{0,60}\/){0,3}[0-9A-Za-z][\w.-]{0,60}$/],
};

export function isKnownName(name: string, content: Manifest['content']): boolean {
  return name.length <= 100 && !name.includes('..') && NAMES[content].some((pattern) => pattern.test(name));
}

/** Over the members as they came: what a later version adds is signed as well. */
function isGenuine(told: Record<string, unknown>, manifest: Manifest): boolean {
  try {
    const { signature, ...base } = told;
    const bytes = exactBase64(String(signature));
    const isOfDevice = fingerprint(manifest.publicKey).startsWith(manifest.deviceId);
    return bytes !== undefined && isOfDevice && verify(null, bytesOf(base), publicKeyOf(manifest), bytes);
  } catch {
    return false;
  }
}

function bytesOf(base: object): Buffer {
  return Buffer.from(`lineside-backup\n${canonicalJson(base)}`, 'utf8');
}

function fingerprint(publicKey: string): string {
  return createHash('sha256').update(Buffer.from(publicKey, 'base64')).digest('hex');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new BackupRefused('its manifest.json is no JSON');
  }
}
