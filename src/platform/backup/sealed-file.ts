/**
 * The encryption around a backup: the `age` format (age-encryption.org/v1), for public keys or for one passphrase, as any program of that
 * format opens it. What was changed or cut off anywhere is found by the format itself: no piece is handed on before its tag fits.
 */
import { createReadStream } from 'node:fs';
import { ReadableStream } from 'node:stream/web';
import { isRecipient } from './recipient.js';
import { BackupRefused } from './refused.js';

/** For whom it is encrypted. */
export type SealedFor = { readonly recipients: readonly string[] } | { readonly passphrase: string };
/** With what it is opened. */
export type OpenedWith = { readonly identities: readonly string[] } | { readonly passphrase: string };

/** Of scrypt: 64 MiB and a second on a small box; the 256 MiB of the default are too much beside a plant. */
const WORK_FACTOR = 16;
const PASSPHRASE_LENGTH_MIN = 16;
const IDENTITY = /^AGE-SECRET-KEY-(PQ-)?1[0-9A-Z]{40,3000}$/;
const READ_BYTES = 256 * 1024;

/** The keys in a file of `age-keygen`, one a line. @throws BackupRefused when there is none. */
export function identitiesIn(text: string, file: string): readonly string[] {
  const lines = text.split('\n').flatMap((line) => (line.trim() === '' || line.startsWith('#') ? [] : [line.trim()]));
  if (lines.length === 0 || !lines.every((line) => IDENTITY.test(line))) throw new BackupRefused(`${file} holds no identity of age (AGE-SECRET-KEY-1…, as age-keygen writes it)`);
  return lines;
}

/** The first line of a file. @throws BackupRefused when it is too short to protect anything. */
export function passphraseIn(text: string, file: string): string {
  const [line = ''] = text.split('\n');
  const passphrase = line.trim();
  if (passphrase.length < PASSPHRASE_LENGTH_MIN)
    throw new BackupRefused(
      `the passphrase in ${file} has ${passphrase.length} characters; whoever has the backup can try passphrases as long as he likes: take at least ${PASSPHRASE_LENGTH_MIN}`,
    );
  return passphrase;
}

/** @throws BackupRefused for a recipient that is none. */
export async function sealed(plain: AsyncIterable<Uint8Array>, whom: SealedFor): Promise<AsyncIterable<Uint8Array>> {
  const { Encrypter } = await import('age-encryption');
  const encrypter = new Encrypter();
  if ('passphrase' in whom) {
    encrypter.setScryptWorkFactor(WORK_FACTOR);
    encrypter.setPassphrase(whom.passphrase);
  }
  for (const recipient of 'recipients' in whom ? whom.recipients : []) {
    try {
      if (!isRecipient(recipient)) throw new Error('it is no age1… key');
      encrypter.addRecipient(recipient);
    } catch (fault) {
      throw new BackupRefused(`the recipient ${recipient.slice(0, 80)} is no public key of age: ${(fault as Error).message}`);
    }
  }
  return encrypter.encrypt(streamOf(plain)) as Promise<AsyncIterable<Uint8Array>>;
}

/** The plain text of a file, in pieces. @throws BackupRefused, also while it is read, when it is damaged, cut off, or for somebody else. */
export async function* opened(file: string, keys: OpenedWith): AsyncGenerator<Uint8Array> {
  const { Decrypter } = await import('age-encryption');
  const decrypter = new Decrypter();
  if ('passphrase' in keys) decrypter.addPassphrase(keys.passphrase);
  for (const identity of 'identities' in keys ? keys.identities : []) decrypter.addIdentity(identity);
  const source = createReadStream(file, { highWaterMark: READ_BYTES });
  try {
    const plain = (await decrypter.decrypt(streamOf(source))) as AsyncIterable<Uint8Array>;
    for await (const piece of plain) yield piece;
  } catch (fault) {
    const { code, message } = fault as NodeJS.ErrnoException;
    if (code !== undefined && source.errored) throw new BackupRefused(`it cannot be read: ${message}`);
    if (/no identity matched/.test(message))
      throw new BackupRefused(`it is not encrypted for ${'passphrase' in keys ? 'this passphrase' : 'this identity'}, or its head was changed`);
    throw new BackupRefused(`it is no backup of age, or it was changed or cut off (${message})`);
  } finally {
    source.destroy();
  }
}

/** The streams of the web, which the library takes: drawn from as it is read, and ended with it. */
function streamOf(pieces: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> & globalThis.ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 1 },
  ) as ReadableStream<Uint8Array> & globalThis.ReadableStream<Uint8Array>;
}
