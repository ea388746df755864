/** How the settings reach a broker; the files are read once, at the start. */
import { readPlainFile } from '../base/plain-file.js';
import type { PublisherParts } from './publisher.js';

export interface BrokerSettings {
  /** `mqtt://host[:1883]` or `mqtts://host[:8883]`. */
  readonly url: string;
  readonly username: string | null;
  readonly passwordFile: string | null;
  readonly caFile: string | null;
}

/** Certificates of many authorities. */
const FILE_BYTES_MAX = 4 * 1024 ** 2;

/** @throws UnfitFile, or as `node:fs` does, where a file cannot be read. */
export function brokerOf({ url, username, passwordFile, caFile }: BrokerSettings): Pick<PublisherParts, 'url' | 'username' | 'password' | 'ca'> {
  return { url, username: username ?? undefined, password: textOf(passwordFile)?.trim(), ca: textOf(caFile) };
}

function textOf(file: string | null): string | undefined {
  return file === null ? undefined : readPlainFile(file, FILE_BYTES_MAX).toString('utf8');
}
