/** What a unit runtime tells of itself, as it is served (contract 3, Physical model and logic; decisions Q-UNIT-07, Q-UNIT-08). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { QUALITY_WORDS } from '../../../runtime/vocabulary/quality.js';
import { STATES } from '../../../runtime/vocabulary/states.js';
import { LOG_LEVELS } from '../../platform/base/log-lines.js';
import { logPage, type ToldBy } from '../../platform/http/replies.js';
import { Scalar } from '../../platform/store/fields.js';
import { PROGRAM_STATES } from '../logic/kind.js';

const ProgramState = v.picklist(PROGRAM_STATES);

export const RuntimeStatus = v.strictObject({
  unit: v.string(),
  ready: v.boolean(),
  message: v.string(),
  node: v.string(),
  podName: v.string(),
  image: v.string(),
  epoch: v.number(),
  startedAt: v.string(),
  scanInterval: v.string(),
  timeScale: v.number(),
  scanCount: v.number(),
  lastScanAt: v.string(),
  overruns: v.number(),
  missed: v.number(),
  maxLatenessMs: v.number(),
  networks: v.array(v.strictObject({ name: v.string(), state: ProgramState, scanCount: v.number() })),
  /** Phases that are not Idle. */
  elements: v.array(v.strictObject({ kind: v.literal('Phase'), name: v.string(), state: v.picklist(STATES) })),
});
export type RuntimeStatus = ToldBy<typeof RuntimeStatus>;

const Port = v.strictObject({ value: v.nullable(Scalar), quality: v.picklist(QUALITY_WORDS) });

export const NetworkView = v.strictObject({
  name: v.string(),
  unit: v.string(),
  state: v.string(),
  message: v.string(),
  scanInterval: v.string(),
  scanCount: v.number(),
  lastScanMs: v.number(),
  executionOrder: v.array(v.string()),
  blocks: v.array(v.strictObject({ name: v.string(), type: v.string(), inputs: v.record(v.string(), Port), outputs: v.record(v.string(), Port), error: v.string() })),
});

/** Count up to a bound; the last bound is null. */
const Steps = v.array(v.strictObject({ leMs: v.nullable(v.number()), count: v.number() }));

export const Diagnostics = v.strictObject({
  unit: v.string(),
  scan: v.strictObject({
    count: v.number(),
    missed: v.number(),
    overruns: v.number(),
    lastMs: v.number(),
    avgMs: v.number(),
    p95Ms: v.number(),
    p99Ms: v.number(),
    maxMs: v.number(),
    durations: Steps,
    jitter: Steps,
  }),
  lateness: v.strictObject({ lastMs: v.number(), p50Ms: v.number(), p99Ms: v.number(), maxMs: v.number() }),
  heapUsedBytes: v.number(),
  heapLimitBytes: v.number(),
  gc: v.strictObject({ count: v.number(), totalMs: v.number(), maxMs: v.number(), byType: v.record(v.string(), v.number()) }),
  drivers: v.array(v.strictObject({ ioModule: v.string(), lastReadAt: v.nullable(v.string()), ageMs: v.nullable(v.number()), reads: v.number(), errors: v.number() })),
  stateWrites: v.strictObject({ count: v.number(), lastMs: v.number() }),
  messagesShed: v.number(),
  faultedBlocks: v.array(v.strictObject({ network: v.string(), block: v.string() })),
  realtime: v.strictObject({ granted: v.boolean(), reason: v.string() }),
  /** How many units its thread scans, and the names of the others of this site. */
  thread: v.strictObject({ units: v.number(), sharedWith: v.array(v.string()) }),
});

export const RuntimeProgram = v.strictObject({
  name: v.string(),
  controlModule: v.string(),
  state: ProgramState,
  scanInterval: v.union([v.string(), v.number()]),
  scanCount: v.number(),
  blockCount: v.number(),
  faultedBlocks: v.array(v.string()),
  message: v.string(),
  networkHash: v.string(),
  loadedAt: v.string(),
});
export type RuntimeProgram = ToldBy<typeof RuntimeProgram>;

export const UnitEvents = logPage(v.strictObject({ ts: v.string(), type: v.picklist(['Normal', 'Warning']), reason: v.string(), message: v.string(), object: v.string() }));

/** The fields of a line are whatever was logged with it. */
export const UnitLogLines = logPage(v.strictObject({ ts: v.string(), level: v.picklist(LOG_LEVELS), message: v.string(), fields: v.record(v.string(), v.unknown()) }));

export const TagReading = v.strictObject({
  address: v.string(),
  value: v.nullable(Scalar),
  quality: v.picklist(QUALITY_WORDS),
  /** Empty when it was never scanned. */
  ts: v.string(),
  error: v.string(),
});
export type TagReading = ToldBy<typeof TagReading>;

export const OneWritten = v.strictObject({ ok: v.boolean(), address: v.string(), message: v.string() });
export type OneWritten = ToldBy<typeof OneWritten>;

const WriteVerdict = v.strictObject({ address: v.string(), ok: v.boolean(), message: v.string(), code: v.optional(v.string()) });
export type WriteVerdict = ToldBy<typeof WriteVerdict>;
export const ManyWritten = v.strictObject({ ok: v.boolean(), results: v.array(WriteVerdict) });
export type ManyWritten = ToldBy<typeof ManyWritten>;

export const Restarted = v.strictObject({ unit: v.string(), podName: v.string(), oldImage: v.string(), newImage: v.string(), status: v.literal('Restarting') });

nameSchemas({
  RuntimeStatus,
  RuntimePort: Port,
  RuntimeNetwork: NetworkView,
  RuntimeDiagnostics: Diagnostics,
  RuntimeProgram,
  UnitEvents,
  UnitLogLines,
  RuntimeTagReading: TagReading,
  RuntimeOneWritten: OneWritten,
  RuntimeWriteVerdict: WriteVerdict,
  RuntimeManyWritten: ManyWritten,
  RuntimeRestarted: Restarted,
});
