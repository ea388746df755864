/** Recordings of a unit's scan inputs, for deterministic replay; additions to the contract (ADR 0005). */
import * as v from 'valibot';
import { invalid, missing } from '../../platform/base/refusal.js';
import { created, Reply, routesFor } from '../../platform/http/route.js';
import type { Store } from '../../platform/store/store.js';
import { Unit } from '../plant/kind.js';
import { reachable } from '../tags/live.js';
import { RecordingEntry, type Recordings } from './recordings.js';
import type { UnitRuntimes } from '../placement/runtimes.js';

export interface RecordingRouteDeps {
  readonly store: Store;
  readonly runtimes: UnitRuntimes;
  readonly recordings: Recordings;
  /** Longest recording, in seconds. */
  readonly secondsMax: number;
}

const route = routesFor<RecordingRouteDeps>();
const RUNTIME = '/api/v1/sites/{site}/units/{name}/runtime';
const here = ({ site, name }: { readonly site: string; readonly name: string }, { store }: RecordingRouteDeps): void => {
  if (!store.get(Unit, site, name)) throw missing('Unit', name);
};

export const recordingRoutes = [
  route({
    method: 'POST',
    path: `${RUNTIME}/recording`,
    action: 'unit:runtime-record',
    tier: 'engineer',
    body: v.strictObject({ action: v.picklist(['start', 'stop']), seconds: v.optional(v.pipe(v.number(), v.minValue(1))) }),
    reply: { 200: RecordingEntry, 201: RecordingEntry },
    errors: { 400: ['out_of_range'], 409: ['recording_active', 'not_recording', 'storage_low'], 503: ['runtime_unreachable'] },
    summary: 'Start or stop a recording of the scan inputs, for replay',
    audit: { action: 'Request', category: 'runtime', target: ({ site, name }) => ({ kind: 'Unit', name, site }) },
    exists: here,
    handle: async ({ params, body, audit, caller }, deps) => {
      const { store, runtimes, recordings, secondsMax } = deps;
      const { action, seconds = secondsMax } = body;
      if (seconds > secondsMax) throw invalid('out_of_range', 'seconds', `a recording lasts at most ${secondsMax} s (runtime.recording.maxDuration)`);
      const link = reachable(runtimes, params.site, params.name);
      const entry = action === 'start' ? await recordings.start(link, seconds * 1000, caller.username) : await recordings.stop(link);
      await store.write({ audits: [audit({ result: 'Success', details: { recording: entry.id, command: action, ...(action === 'start' && { seconds }) } })] });
      return action === 'start' ? created(entry, `/api/v1/sites/${params.site}/units/${params.name}/runtime/recordings/${entry.id}`) : entry;
    },
  }),
  route({
    method: 'GET',
    path: `${RUNTIME}/recordings`,
    action: 'unit:runtime-recordings',
    tier: 'engineer',
    reply: v.strictObject({ items: v.array(RecordingEntry) }),
    summary: 'Recordings of the unit, the latest first',
    exists: here,
    handle: ({ params }, { recordings }) => ({ items: recordings.list(params.site, params.name) }),
  }),
  route({
    method: 'GET',
    path: `${RUNTIME}/recordings/{id}`,
    action: 'unit:runtime-recordings',
    tier: 'engineer',
    reply: 'file for `lineside replay`',
    media: ['application/octet-stream'],
    errors: { 409: ['recording_active'] },
    summary: 'One recording as a file; `latest` names the last one that has ended',
    exists: here,
    handle: async ({ params }, { recordings }) => {
      const { entry, bytes } = await recordings.read(params.site, params.name, params.id);
      const headers = { 'Content-Disposition': `attachment; filename="${params.name}-${entry.id}.lsrec"` };
      return new Reply('ok', bytes, headers, 'application/octet-stream');
    },
  }),
];
