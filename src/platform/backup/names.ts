/** The names of backups: of which box and of when, so that in their order they are in the order of their times. */
import { readMarkerFile } from '../ledger/marker.js';

const EXTENSION = '.tar.gz.age';
/** Behind the name of a file that is being written. */
export const DRAFT = '.part';
const DEVICE_DIGITS = 8;

/** `lineside-4f2a90c1-20261129T054500Z.tar.gz.age`. */
export function backupName(dataDir: string, at: Date): string {
  return `${prefixOf(readMarkerFile(dataDir)?.deviceId ?? 'unknown')}${at.toISOString().replaceAll(/[-:]|\.\d+/g, '')}${EXTENSION}`;
}

/** Whether it is a name that a backup of this box has by itself. */
export function isBackupOf(name: string, deviceId: string): boolean {
  const prefix = prefixOf(deviceId);
  return name.startsWith(prefix) && /^\d{8}T\d{6}Z\.tar\.gz\.age$/.test(name.slice(prefix.length));
}

/** Whether it is what one of those was while it was written. */
export function isDraftOf(name: string, deviceId: string): boolean {
  return name.endsWith(DRAFT) && isBackupOf(name.slice(0, -DRAFT.length), deviceId);
}

function prefixOf(deviceId: string): string {
  return `lineside-${deviceId.slice(0, DEVICE_DIGITS)}-`;
}
