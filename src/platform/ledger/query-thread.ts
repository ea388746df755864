/** Entry of the query thread: long reads, exports and verification, so that nobody else waits for them. Never writes. */
import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../base/assert.js';
import { serveCalls, Transferred } from '../base/worker-calls.js';
import type { AuditFilter } from './audit-filter.js';
import { openDeviceKeys } from './keys.js';
import { type AuditOfRequest, type AuditPageRequest, type FactPageRequest, StateReader, type TimedFactsRequest } from './state-reader.js';

const { dataDir } = workerData as { dataDir: string };
const port = parentPort;
assert(port, 'queries run as a worker');
const reader = new StateReader(dataDir, openDeviceKeys(dataDir));

serveCalls(port, {
  auditPage: (request: AuditPageRequest) => new Transferred(reader.auditPage(request)),
  auditRecord: ({ sequence, filter }: { sequence: number; filter: AuditFilter }) => reader.auditRecord(sequence, filter),
  auditOf: (request: AuditOfRequest) => new Transferred(reader.auditOf(request)),
  auditLines({ after, limit }: { after: number; limit: number }) {
    const { text, last, count } = reader.auditLines(after, limit);
    return { bytes: new TextEncoder().encode(text), last, count };
  },
  factPage: (request: FactPageRequest) => new Transferred(reader.factPage(request)),
  timedFacts(request: TimedFactsRequest) {
    const { text, next } = reader.timedFacts(request);
    return { bytes: new TextEncoder().encode(text), next };
  },
  verify: (range: { fromMs?: number; toMs?: number }) => reader.verify(range),
  close: () => reader.close(),
});
