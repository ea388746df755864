/** The next hours, and what shifts tell each other (ADRs 0135, 0136). */
import * as v from 'valibot';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { invalid } from '../../platform/base/refusal.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { readLogQuery } from '../../platform/http/log-query.js';
import { LOG, parameters } from '../../platform/http/parameters.js';
import { factPage, type ToldBy } from '../../platform/http/replies.js';
import { created, rendered, routesFor } from '../../platform/http/route.js';
import { LABEL_TEXT } from '../../platform/store/fields.js';
import type { Store } from '../../platform/store/store.js';
import { requireSite, Unit } from '../plant/kind.js';
import type { FactReader } from '../runs/facts.js';
import { Person } from '../runs/execution-log.js';
import { planOf } from './plan.js';
import { Plan } from './plan-bodies.js';

export interface ShiftDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly facts: Pick<FactReader, 'factPageJson'>;
}

const TEXT_MAX = 2000;
const NOTE_TEXT = /^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]*$/u;
const NOTES = '/api/v1/sites/{site}/shift-notes';

const NoteRequest = v.strictObject({
  text: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1, 'must not be empty'),
    v.maxLength(TEXT_MAX, `must be at most ${TEXT_MAX} characters`),
    v.regex(NOTE_TEXT, 'must not contain control characters other than line breaks and tabs'),
  ),
  unit: v.optional(v.string(), ''),
  /** Whoever takes the shift over; makes it a hand-over. */
  handOverTo: v.optional(v.pipe(v.string(), v.trim(), v.maxLength(128, 'must be at most 128 characters'), v.regex(LABEL_TEXT, 'must not contain control characters')), ''),
  /** Number of the note that it puts right; the other stays as it is. */
  corrects: v.optional(v.pipe(v.number(), v.integer('must be a whole number'), v.minValue(1, 'must be at least 1'))),
});

const ShiftNote = v.strictObject({
  id: v.number(),
  ts: v.string(),
  kind: v.picklist(['Note', 'HandOver']),
  text: v.string(),
  unit: v.string(),
  author: Person,
  handOverTo: v.string(),
  corrects: v.nullable(v.number()),
  auditRecordRef: v.string(),
});
export type ShiftNote = ToldBy<typeof ShiftNote>;
const ShiftNotes = factPage(ShiftNote);

nameSchemas({ ShiftNoteCreate: NoteRequest, ShiftNote, ShiftNotes });

const route = routesFor<ShiftDeps>();

export const shiftRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/plan',
    action: 'plan:read',
    tier: 'read',
    reply: Plan,
    summary: 'The next four hours of the units: what runs until when, what waits for what, by the durations of earlier batches',
    exists: ({ site }, { store }) => void requireSite(store, site),
    handle: ({ params }, { store, clock }) => planOf(store, params.site, clock.wallMs()),
  }),
  route({
    method: 'GET',
    path: NOTES,
    action: 'shiftnote:list',
    tier: 'read',
    query: parameters(LOG),
    reply: ShiftNotes,
    summary: 'Shift notes of a site, newest first; query from, to, order, limit, cursor',
    exists: ({ site }, { store }) => void requireSite(store, site),
    handle: async ({ params, query }, { facts }) => rendered(await facts.factPageJson(notesOf(params.site), { ...readLogQuery(query), timeMember: 'ts' })),
  }),
  route({
    method: 'POST',
    path: NOTES,
    action: 'shiftnote:create',
    tier: 'operate',
    body: NoteRequest,
    reply: ShiftNote,
    errors: { 400: ['unknown_reference'] },
    summary: 'Leave a shift note, or hand the shift over; notes are never changed: one that corrects another stands beside it',
    audit: { action: 'Create', category: 'shift-note', target: ({ site }) => ({ kind: 'ShiftNote', name: '', site }) },
    exists: ({ site }, { store }) => void requireSite(store, site),
    async handle({ params: { site }, body, caller, audit }, { store, clock }) {
      const { text, unit, handOverTo, corrects = null } = body;
      const stream = notesOf(site);
      if (unit !== '' && !store.get(Unit, site, unit)) throw invalid('unknown_reference', 'unit', `unit ${unit} does not exist`);
      if (corrects !== null && corrects > store.lastFact(stream)) throw invalid('unknown_reference', 'corrects', `there is no shift note ${corrects}`);
      const { accountId, displayName } = caller;
      const id = store.lastFact(stream) + 1;
      const note: Omit<ShiftNote, 'id'> = {
        ts: timestamp(clock.wallMs()),
        kind: handOverTo === '' ? 'Note' : 'HandOver',
        text,
        unit,
        author: { accountId, displayName },
        handOverTo,
        corrects,
        auditRecordRef: store.nextAuditName(0),
      };
      await store.write({
        facts: [{ stream, body: (sequence): ShiftNote => ({ id: sequence, ...note }) }],
        audits: [audit({ result: 'Success', target: { kind: 'ShiftNote', name: String(id), site }, after: { text, unit, handOverTo, corrects } })],
      });
      return created({ id, ...note }, `/api/v1/sites/${site}/shift-notes`);
    },
  }),
];

function notesOf(site: string): string {
  return `shift-notes/${site}`;
}
