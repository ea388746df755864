/**
 * The whole audit trail as one text (decisions 8.6, Q-CHANGE-10): a record a line in the order of the sequence, with `mac` and
 * `keyId`, and a last line that says what was before it, so that whoever keeps the copy can check it by himself:
 * `head -n -1 FILE | sha256sum`. Made chunk by chunk, as fast as the reader takes it.
 */
import { createHash } from 'node:crypto';
import { readLine } from '../../platform/ledger/archive-format.js';
import type { ExportRange } from '../../platform/ledger/audit-trail.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';

export const NDJSON = 'application/x-ndjson';
const NEW_LINE = 0x0a;

export async function* auditBackup(queries: Pick<LedgerQueries, 'auditLines'>, range: ExportRange): AsyncGenerator<Uint8Array> {
  const sha = createHash('sha256');
  let records = 0;
  let last: Uint8Array | undefined;
  for await (const chunk of queries.auditLines(0, range)) {
    sha.update(chunk);
    records += linesOf(chunk);
    last = chunk;
    yield chunk;
  }
  const trailer = { trailer: true, records, headHash: last ? headHashOf(last) : '', sha256: sha.digest('hex') };
  yield Buffer.from(`${JSON.stringify(trailer)}\n`);
}

function linesOf(chunk: Uint8Array): number {
  let lines = 0;
  for (let at = chunk.indexOf(NEW_LINE); at !== -1; at = chunk.indexOf(NEW_LINE, at + 1)) lines += 1;
  return lines;
}

/** Hash of the last record; every line has its end. */
function headHashOf(chunk: Uint8Array): string {
  const line = chunk.subarray(chunk.lastIndexOf(NEW_LINE, chunk.length - 2) + 1, chunk.length - 1);
  return readLine(Buffer.from(line).toString('utf8'))?.hash.toString('hex') ?? '';
}
