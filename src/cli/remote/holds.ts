/** hold: legal holds (ADR 0132): what is in the scope of one is removed by nobody until it is lifted. */
import type { Answered } from '../../client/typed.js';
import { type CommandContext, type CommandRow, textOf, textsOf } from './command.js';
import { oneOfWords, REASON, reasonFor } from './given.js';
import { type Outcome, section, table, usage } from './outcome.js';
import { plainLine } from './plain.js';
import { findRecord } from './record-status.js';
import { instantOf } from './times.js';

const HOLDS = '/api/v1/legal-holds';
const STATES = ['Standing', 'Lifted'] as const;

type Hold = Answered<'/api/v1/legal-holds', 'get'>['items'][number];

function scopeText({ site, batchRecords, from, to }: Hold['scope']): string {
  if (batchRecords.length > 0) return `${site}: ${batchRecords.join(', ')}`;
  return from === '' ? `all of ${site}` : `${site} from ${from} to ${to}`;
}

async function list({ box, options }: CommandContext): Promise<Outcome> {
  const state = oneOfWords(options, 'state', STATES);
  const { items } = await box.typed.get(HOLDS, { query: state === undefined ? {} : { state } });
  const rows = items.map((hold) => [hold.name, hold.state, scopeText(hold.scope), hold.setBy, hold.setAt, hold.reason]);
  return { data: items, text: rows.length === 0 ? 'there is no such legal hold' : table(['hold', 'state', 'keeps', 'set by', 'at', 'because'], rows) };
}

async function show({ box, args: [name = ''] }: CommandContext): Promise<Outcome> {
  const hold = await box.typed.get(`${HOLDS}/{name}`, { path: { name } });
  const lines = [
    `legal hold ${name} is ${hold.state}: ${scopeText(hold.scope)}`,
    `set by ${plainLine(hold.setBy)} at ${hold.setAt}: ${plainLine(hold.reason)}`,
    ...(hold.state === 'Lifted' ? [`lifted by ${plainLine(hold.liftedBy)} at ${hold.liftedAt}: ${plainLine(hold.liftReason)}`] : []),
    ...section(`batch records in its scope (${hold.holdsTotal}):`, hold.holds),
  ];
  return { data: hold, text: lines.join('\n') };
}

async function set(context: CommandContext): Promise<Outcome> {
  const { box, args, options } = context;
  const [name = ''] = args;
  const batches = textsOf(options, 'batch');
  const from = await instantOf(box, textOf(options, 'from'), '--from');
  const to = await instantOf(box, textOf(options, 'to'), '--to');
  if (batches.length > 0 && (from ?? to) !== undefined) throw usage('--batch and --from, --to are two ways to say what is kept: give one of them');
  if ((from === undefined) !== (to === undefined)) throw usage('a time has two ends: give --from and --to');
  const site = await box.site();
  const batchRecords: string[] = [];
  for (const batch of batches) batchRecords.push((await findRecord(box, batch)).name);
  const scope = { site, ...(batchRecords.length === 0 ? {} : { batchRecords }), ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const reason = (await reasonFor(context, `legal hold ${name}`)) ?? '';
  const hold = await box.typed.post(HOLDS, { body: { name, reason, scope } });
  return { data: hold, text: `legal hold ${name} stands: ${scopeText(hold.scope)}. Nothing of it is removed until somebody lifts it` };
}

async function lift(context: CommandContext): Promise<Outcome> {
  const { box, args } = context;
  const [name = ''] = args;
  const reason = (await reasonFor(context, `the end of legal hold ${name}`)) ?? '';
  const hold = await box.typed.post(`${HOLDS}/{name}/lift`, { path: { name }, body: { reason } });
  return { data: hold, text: `legal hold ${name} is lifted: what it kept is treated as all else again` };
}

async function namesOf({ box }: CommandContext): Promise<readonly string[]> {
  return (await box.typed.get(HOLDS, { query: { state: 'Standing' } })).items.map(({ name }) => name);
}

export const HOLD_COMMANDS: readonly CommandRow[] = [
  { typed: 'hold list', about: 'legal holds, those that were lifted too', options: [['--state <state>', STATES.join(', ')]], run: list },
  { typed: 'hold show <hold>', about: 'one of them, and the batch records in its scope', names: { hold: namesOf }, run: show },
  {
    typed: 'hold set <hold>',
    about: 'keep all of a site, the named batches, or what ran in a time, whatever would remove it',
    options: [
      ['--batch <batch...>', 'these batches with their records, by batchID or by the name of the record; may be repeated'],
      ['--from <time>', 'what ran from then on: a time, or a duration back from now'],
      ['--to <time>', 'and until then'],
      REASON,
    ],
    examples: ['lineside hold set claim-7 --batch B-12 --reason "claim 7 of the customer"', 'lineside hold set audit-2026 --from 2026-01-01T00:00:00Z --to 2026-02-01T00:00:00Z'],
    run: set,
  },
  { typed: 'hold lift <hold>', about: 'end one; it stays listed', options: [REASON], names: { hold: namesOf }, run: lift },
];
