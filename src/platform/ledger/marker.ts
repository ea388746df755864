/**
 * That an appliance has lived in a data directory, and how far its trail had come (D-C-09): device, first start and last
 * known head, in `keys/appliance.json`, in `state.db` and beside the head in `audit-head`. Three places, so that what is lost
 * in one is told by the others; none of them is written over before what it says has been compared (inspect.ts).
 */
import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import { readDataFileIfUsable } from '../base/data-file.js';
import { syncFolder } from '../base/sync-folder.js';
import { COUNT_MAX } from './counts.js';

const Marker = v.looseObject({
  deviceId: v.string(),
  firstStart: v.string(),
  head: v.object({ sequence: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(COUNT_MAX)), hash: v.string() }),
  /** Signed heads in `state.db`. */
  heads: v.number(),
});
export type Marker = Readonly<v.InferOutput<typeof Marker>>;

/** Row of table `meta`. */
export const MARKER_KEY = 'appliance';

export function markerFileOf(dataDir: string): string {
  return path.join(dataDir, 'keys', 'appliance.json');
}

/** Null for what is no marker: a damaged one tells nothing. */
export function parseMarker(text: unknown): Marker | null {
  if (typeof text !== 'string') return null;
  try {
    const read = v.safeParse(Marker, JSON.parse(text));
    return read.success ? read.output : null;
  } catch {
    return null;
  }
}

export function readMarkerFile(dataDir: string): Marker | null {
  return parseMarker(readDataFileIfUsable(markerFileOf(dataDir))?.toString('utf8'));
}

/** Whole or not at all. */
export function writeMarkerFile(dataDir: string, marker: Marker): void {
  const file = markerFileOf(dataDir);
  const draft = `${file}.new`;
  const fd = openSync(draft, 'w', 0o600);
  try {
    writeSync(fd, `${JSON.stringify(marker)}\n`);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(draft, file);
  syncFolder(path.dirname(file));
}
