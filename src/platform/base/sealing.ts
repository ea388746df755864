/**
 * Texts that are stored so that only this box can read them: AES-256-GCM (NIST SP 800-38D) with a key that is made from the device key
 * (HKDF-SHA256, RFC 5869), so that a copy of the database without `keys/` holds no secret.
 *
 * A sealed text is `lineside-sealed/1:` and base64url of nonce (12 bytes), tag (16 bytes) and ciphertext. The place that it is
 * sealed for is authenticated with it: a text that somebody moves to another place does not open there.
 */
import { createCipheriv, createDecipheriv, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';

const FORMAT = 'lineside-sealed/1:';
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export class Sealing {
  readonly #key: Buffer;

  /** @param purpose keys of different purposes are different keys. */
  constructor(deviceKey: KeyObject, purpose: string) {
    this.#key = Buffer.from(hkdfSync('sha256', deviceKey.export({ type: 'pkcs8', format: 'der' }), '', `lineside ${purpose}`, KEY_BYTES));
  }

  seal(text: string, place: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(place));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return `${FORMAT}${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url')}`;
  }

  /** Undefined where it was sealed by another box, for another place, in a format that this release does not know, or was changed. */
  open(sealed: string, place: string): string | undefined {
    if (!sealed.startsWith(FORMAT)) return undefined;
    const bytes = Buffer.from(sealed.slice(FORMAT.length), 'base64url');
    if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
    const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8');
    } catch {
      return undefined; // the tag does not fit
    }
  }
}
