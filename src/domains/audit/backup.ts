/**
 * The whole audit trail as one text (decisions 8.6, Q-CHANGE-10): a record a line in the order of the sequence, with `mac` and
 * `keyId`, and a last line that says what was before it, so that whoever keeps the copy can check it by himself:
 * `head -n -1 FILE | sha256sum`, and `lineside verify FILE --key KEY` with its signature. Made chunk by chunk, as fast as the reader takes it.
 */
import { createHash, type KeyObject } from 'node:crypto';
import { type ArchivedRow, readLine } from '../../platform/ledger/archive-format.js';
import type { ExportRange } from '../../platform/ledger/audit-trail.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import { type ExportTrailer, signTrailer } from '../../platform/ledger/signed-export.js';

export const NDJSON = 'application/x-ndjson';
const NEW_LINE = 0x0a;

/** Whose key signs it, and when it was exported. */
export interface ExportSeal {
  readonly privateKey: KeyObject;
  readonly kid: string;
  readonly exportedAt: string;
}

export async function* auditBackup(queries: Pick<LedgerQueries, 'auditLines'>, range: ExportRange, { privateKey, kid, exportedAt }: ExportSeal): AsyncGenerator<Uint8Array> {
  const sha = createHash('sha256');
  let records = 0;
  let first: ArchivedRow | null = null;
  let last: ArchivedRow | null = null;
  for await (const chunk of queries.auditLines(0, range)) {
    sha.update(chunk);
    records += linesOf(chunk);
    first ??= lineAt(chunk, 0);
    last = lineAt(chunk, chunk.lastIndexOf(NEW_LINE, chunk.length - 2) + 1);
    yield chunk;
  }
  const trailer: ExportTrailer = {
    trailer: true,
    records,
    firstSequence: first?.sequence ?? 0,
    lastSequence: last?.sequence ?? 0,
    headHash: last?.hash.toString('hex') ?? '',
    sha256: sha.digest('hex'),
    whole: range.fromMs === undefined && range.toMs === undefined,
    exportedAt,
    keyId: kid,
  };
  yield Buffer.from(`${JSON.stringify(signTrailer(trailer, privateKey))}\n`);
}

function linesOf(chunk: Uint8Array): number {
  let lines = 0;
  for (let at = chunk.indexOf(NEW_LINE); at !== -1; at = chunk.indexOf(NEW_LINE, at + 1)) lines += 1;
  return lines;
}

/** Every line has its end. */
function lineAt(chunk: Uint8Array, at: number): ArchivedRow | null {
  return readLine(Buffer.from(chunk.subarray(at, chunk.indexOf(NEW_LINE, at))).toString('utf8'));
}
