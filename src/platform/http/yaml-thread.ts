/** Reads one body in YAML and ends: a hostile one takes its time and memory here, and not from whoever the gateway serves meanwhile. */
import { parentPort, workerData } from 'node:worker_threads';
import { YamlFault, readDocuments } from '../base/yaml.js';

export type YamlRead = { readonly values: readonly unknown[] } | { readonly fault: string };

function read(text: string): YamlRead {
  try {
    return { values: readDocuments(text).map(({ value }) => value) };
  } catch (fault) {
    const { message } = fault as Error;
    return { fault: fault instanceof YamlFault ? `line ${fault.line}, column ${fault.column}: ${message}` : message };
  }
}

parentPort?.postMessage(read(workerData as string));
