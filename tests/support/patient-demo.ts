/**
 * The manifests of the demonstration with the patience of a machine that is busy: a test plant runs faster than wall time, so that the
 * three seconds of a valve are gone when a thread has not had its turn for half a second, and the ten of a step while one command starts.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const SHIPPED = fileURLToPath(new URL('../../demo/', import.meta.url));

/** Writes them into a folder that is not there yet; @returns the folder, for `demo.dir`. */
export function patientDemo(folder: string): string {
  mkdirSync(folder);
  for (const file of readdirSync(SHIPPED).filter((name) => name.endsWith('.json'))) {
    const shipped = readFileSync(path.join(SHIPPED, file), 'utf8');
    const patient = shipped.replace(/"timeout": "([12])0s"/g, '"timeout": "$1h"').replace(/"(openTime|closeTime|startTime|stopTime)": "T#3s"/g, '"$1": "T#20s"');
    writeFileSync(path.join(folder, file), patient);
  }
  return folder;
}
