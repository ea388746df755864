import { Refusal } from './refusal.js';

/** What SQLite says of a file that is damaged: nobody's request is at fault, and the file has a name. */
export function damageOf(fault: unknown, file: string): Refusal | undefined {
  if (!(fault instanceof Error) || !/disk image is malformed|file is not a database|disk I\/O error/.test(fault.message)) return undefined;
  const message = `${file} is damaged and this part of it cannot be read (${fault.message}); keep a copy of the data directory, and put ${file} back from a backup`;
  return new Refusal('unavailable', message, { code: 'storage_damaged', file });
}
