/**
 * Reads one body in YAML and ends: a hostile one takes its time and memory here, and not from whoever the gateway serves meanwhile. It
 * comes out as JSON, with all that aliases stand for unfolded, and goes on as a body in JSON does.
 */
import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import path from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { YamlFault, readDocuments } from '../base/yaml.js';

/** `json`: in UTF-8, the document, or an array of several. */
export type YamlRead = { readonly json: Uint8Array } | { readonly fault: string };

export interface YamlOrder {
  readonly text: string;
  /** Of what comes out. */
  readonly charactersMax: number;
}

function read({ text, charactersMax }: YamlOrder): YamlRead {
  try {
    const [first, ...others] = readDocuments(text).map(({ value }) => value);
    const json = JSON.stringify(others.length === 0 ? (first ?? {}) : [first, ...others]);
    if (json.length > charactersMax) return { fault: `its aliases unfold to more than ${charactersMax} characters` };
    return { json: new TextEncoder().encode(json) };
  } catch (fault) {
    const { message } = fault as Error;
    return { fault: fault instanceof YamlFault ? `line ${fault.line}, column ${fault.column}: ${message}` : message };
  }
}

/** Whoever waits for an answer of the gateway goes before whoever sends much text. Where that is not granted the thread runs as the others. */
function yieldToOthers(): void {
  try {
    setPriority(Number(path.basename(readlinkSync('/proc/thread-self'))), constants.priority.PRIORITY_LOW);
  } catch {
    // the answer is the same, a little earlier
  }
}

yieldToOthers();
parentPort?.postMessage(read(workerData as YamlOrder));
