/** Entry of the query thread: long reads, exports and verification, so that nobody else waits for them. Never writes to `state.db`. */
import type { WallMs } from '../base/times.js';
import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../base/assert.js';
import { serveCalls, Transferred } from '../base/worker-calls.js';
import type { ArchiveLimits, ArchiveSpan } from './archive-writer.js';
import type { AuditFilter } from './audit-filter.js';
import type { ExportRange } from './audit-trail.js';
import { openDeviceKeys } from './keys.js';
import type { MaterialRequest, MaterialSumsRequest } from './material-facts.js';
import {
  type AuditOfRequest,
  type AuditPageRequest,
  type FactPageRequest,
  type PastKey,
  type PastPageRequest,
  type PastTextsRequest,
  StateReader,
  type SyslogRequest,
  type TimedFactsRequest,
} from './state-reader.js';
import type { ArchiveCheck, TimeRange } from './verify-archives.js';

const { dataDir } = workerData as { dataDir: string };
const port = parentPort;
assert(port, 'queries run as a worker');
const reader = new StateReader(dataDir, openDeviceKeys(dataDir));

serveCalls(port, {
  auditPage: async (request: AuditPageRequest) => new Transferred(await reader.auditPage(request)),
  auditRecord: ({ sequence, filter }: { sequence: number; filter: AuditFilter }) => reader.auditRecord(sequence, filter),
  auditOf: async (request: AuditOfRequest) => new Transferred(await reader.auditOf(request)),
  async auditLines({ after, limit, range }: { after: number; limit: number; range: ExportRange }) {
    const { text, ...rest } = await reader.auditLines(after, limit, range);
    return { bytes: new TextEncoder().encode(text), ...rest };
  },
  async syslogSlice(request: SyslogRequest) {
    const { text, ...rest } = await reader.syslogSlice(request);
    return { bytes: new TextEncoder().encode(text), ...rest };
  },
  anchorsIn: ({ file }: { file: string }) => reader.anchorsIn(file),
  newestAudit: () => reader.newestAudit(),
  hashesOf: ({ sequences }: { sequences: readonly number[] }) => reader.hashesOf(sequences),
  missingArchives: (range: ExportRange) => reader.missingArchives(range),
  newestAuditMs: () => reader.newestAuditMs(),
  archiveDue: ({ limits, nowMs }: { limits: ArchiveLimits; nowMs: WallMs }) => reader.archiveDue(limits, nowMs),
  writeArchive: (span: ArchiveSpan) => reader.writeArchive(span),
  factPage(request: FactPageRequest) {
    const { text, damaged } = reader.factPage(request);
    return { bytes: new TextEncoder().encode(text), damaged };
  },
  timedFacts(request: TimedFactsRequest) {
    const { text, ...rest } = reader.timedFacts(request);
    return { bytes: new TextEncoder().encode(text), ...rest };
  },
  materialFacts: (request: MaterialRequest) => new Transferred(reader.materials.page(request)),
  materialSums: (request: MaterialSumsRequest) => reader.materials.sums(request),
  lastFactRow: () => reader.materials.lastRow(),
  pastRow: (key: PastKey) => reader.pastRow(key),
  pastRun: ({ run }: { run: string }) => reader.pastRun(run),
  pastPage: (request: PastPageRequest) => reader.pastPage(request),
  pastTexts: (request: PastTextsRequest) => reader.pastTexts(request),
  verify: (range: TimeRange) => reader.verify(range),
  verifyArchives: (check: ArchiveCheck) => reader.verifyArchives(check),
  verifyRows: () => reader.verifyRows(),
  isRowRecorded: (ref: PastKey) => reader.isRowRecorded(ref),
  close: () => reader.close(),
});
