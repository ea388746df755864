/** review: periodic reviews (ADR 0131) of the audit trail and of who has which access, signed by whoever has reviewed. */
import type { Answered } from '../../client/typed.js';
import { REVIEW_OUTCOMES, REVIEW_TYPES } from '../../domains/reviews/kind.js';
import { type CommandContext, type CommandRow, textOf } from './command.js';
import { LIMIT, limitOf, oneOfWords, PROOF, signed } from './given.js';
import { EXIT, type Outcome, section, table, usage } from './outcome.js';
import { plainLine } from './plain.js';
import { instantOf } from './times.js';

const REVIEWS = '/api/v1/reviews';

type Review = Answered<'/api/v1/reviews', 'get'>['items'][number];
type AccessNow = Answered<'/api/v1/reviews/user-access/list', 'get'>;
/** As it is now, or as it was: then without the last uses. */
interface Listed {
  readonly users: AccessNow['users'];
  readonly apiKeys: readonly (Omit<AccessNow['apiKeys'][number], 'lastUsedAt'> & { readonly lastUsedAt?: string | null })[];
  readonly panels: readonly (Omit<AccessNow['panels'][number], 'lastContactAt'> & { readonly lastContactAt?: string | null })[];
}

function whatOf({ trail, access }: Pick<Review, 'trail' | 'access'>): string {
  if (trail) return `${trail.site === '' ? 'the whole box' : trail.site}, ${trail.from} to ${trail.to}, ${trail.records} records${trail.site === '' ? '' : ' of all sites'}`;
  return access ? `${access.users} accounts, ${access.apiKeys} API keys, ${access.panels} panels` : '';
}

async function list(context: CommandContext): Promise<Outcome> {
  const { box, options, terminal } = context;
  const type = oneOfWords(options, 'type', REVIEW_TYPES);
  const limit = limitOf(context);
  const { items, nextCursor } = await box.typed.get(REVIEWS, { query: { limit, ...(type === undefined ? {} : { type }) } });
  if (nextCursor !== null) terminal.say(`lineside: the first ${items.length} are shown, there are more: --limit, or --type`);
  const rows = items.map((review) => [review.id, review.type, review.outcome, whatOf(review), review.reviewedBy.displayName, review.reviewedAt]);
  return {
    data: items,
    text: rows.length === 0 ? (type === undefined ? 'no review was signed yet' : `no review ${type} was signed yet`) : table(['review', 'of', 'outcome', 'what', 'by', 'at'], rows),
  };
}

/** Exit code 1 of one that is not what was signed. */
async function show({ box, args: [id = ''] }: CommandContext): Promise<Outcome> {
  const review = await box.typed.get(`${REVIEWS}/{id}`, { path: { id } });
  const lines = [
    plainLine(review.words),
    `reviewed: ${whatOf(review)}`,
    ...(review.trail ? [`the chain ${review.trail.chainOk ? 'held' : 'did NOT hold'} then`] : []),
    review.valid ? `it still is what was signed (record ${review.auditRecordRef})` : `it is NOT what was signed: ${review.problems.join('; ')}`,
    ...section('access as it was:', review.list === null ? [] : accessTable(review.list).split('\n')),
  ];
  return { data: review, text: lines.join('\n'), exitCode: review.valid ? EXIT.ok : EXIT.no };
}

async function due({ box }: CommandContext): Promise<Outcome> {
  const { items } = await box.typed.get('/api/v1/review-dates', {});
  const rows = items.map(({ type, site, lastAt, dueAt, overdue, reviewedTo, gap }) => [
    type,
    site === '' ? '-' : site,
    lastAt === '' ? 'never' : lastAt,
    dueAt === '' ? 'now' : dueAt,
    type === 'audit-trail' ? reviewedTo || 'nothing from its begin' : '-',
    [overdue ? 'overdue' : '', gap ? 'not reviewed from there on' : ''].filter((word) => word !== '').join(', '),
  ]);
  const none = 'nobody is reminded of reviews: settings reviews.auditTrailInterval and reviews.userAccessInterval';
  return { data: items, text: rows.length === 0 ? none : table(['of', 'site', 'last', 'due', 'reviewed to', ''], rows) };
}

async function access({ box }: CommandContext): Promise<Outcome> {
  const found = await box.typed.get(`${REVIEWS}/user-access/list`, {});
  return {
    data: found,
    text: `${accessTable(found)}\n\ndigest ${found.digest}\nsign it with: lineside review sign user-access Accepted --digest ${found.digest} --remarks "..."`,
  };
}

function accessTable({ users, apiKeys, panels }: Listed): string {
  const rows = users.map(({ username, displayName, origin, enabled, groups, tiers, sites }) => [
    username,
    displayName,
    origin,
    enabled ? 'yes' : 'no',
    tiers.at(-1) ?? '-',
    sites === null ? 'all' : sites.join(', '),
    groups.join(', '),
  ]);
  const keys = apiKeys.map(({ name, site, keyPrefix, createdBy, expiresAt, test, lastUsedAt }) => [
    name,
    site,
    keyPrefix,
    createdBy,
    expiresAt ?? 'never',
    test ? 'test' : '',
    lastUsedAt ?? '-',
  ]);
  const screens = panels.map(({ name, displayName, site, enrolledBy, lastContactAt }) => [name, displayName, site, enrolledBy, lastContactAt ?? '-']);
  return [
    table(['user', 'name', 'from', 'can sign in', 'may', 'sites', 'groups'], rows),
    ...(keys.length === 0 ? [] : ['', table(['API key', 'site', 'begins with', 'made by', 'expires', '', 'last used'], keys)]),
    ...(screens.length === 0 ? [] : ['', table(['panel', 'name', 'site', 'enrolled by', 'last contact'], screens)]),
  ].join('\n');
}

function outcomeOf({ args: [word = ''] }: CommandContext): (typeof REVIEW_OUTCOMES)[number] {
  const outcome = REVIEW_OUTCOMES.find((each) => each.toLowerCase() === word.toLowerCase());
  if (!outcome) throw usage(`${word} is no outcome of a review: give ${REVIEW_OUTCOMES.join(' or ')}`);
  return outcome;
}

async function remarksOf({ options, terminal }: CommandContext): Promise<string> {
  return textOf(options, 'remarks') ?? (await terminal.ask('what was found (--remarks): '));
}

async function signTrail(context: CommandContext): Promise<Outcome> {
  const { box, options } = context;
  const outcome = outcomeOf(context);
  const from = await instantOf(box, textOf(options, 'from'), '--from');
  if (from === undefined) throw usage('--from says from when on the trail was reviewed: a time, or a duration back from now such as 30d');
  const to = (await instantOf(box, textOf(options, 'to'), '--to')) ?? new Date(await box.nowMs()).toISOString();
  const body = { outcome, remarks: await remarksOf(context), from, to, ...(box.namedSite === undefined ? {} : { site: box.namedSite }) };
  return told(await signed(context, () => box.typed.post(`${REVIEWS}/audit-trail`, { body })));
}

async function signAccess(context: CommandContext): Promise<Outcome> {
  const { box, options } = context;
  const outcome = outcomeOf(context);
  const digest = textOf(options, 'digest');
  if (digest === undefined) throw usage('--digest says which list was reviewed: lineside review access shows it');
  const remarks = await remarksOf(context);
  return told(await signed(context, () => box.typed.post(`${REVIEWS}/user-access`, { body: { digest, outcome, remarks } })));
}

function told(review: Review): Outcome {
  return { data: review, text: `review ${review.id} is signed: ${whatOf(review)}, ${review.outcome}` };
}

async function idsOf({ box }: CommandContext): Promise<readonly string[]> {
  return (await box.typed.get(REVIEWS, { query: {} })).items.map(({ id }) => id);
}

const REMARKS = ['--remarks <text>', 'what was found; goes on record with the signature. Asked for at the terminal where it is left out'] as const;
const OUTCOME_WORDS = { outcome: REVIEW_OUTCOMES };

export const REVIEW_COMMANDS: readonly CommandRow[] = [
  { typed: 'review list', about: 'periodic reviews, the latest first', options: [['--type <type>', REVIEW_TYPES.join(', ')], LIMIT], run: list },
  { typed: 'review show <review>', about: 'one of them, and whether it still is what was signed; exit code 1 where it is not', names: { review: idsOf }, run: show },
  { typed: 'review due', about: 'when the next ones are due, where the box reminds of them', run: due },
  { typed: 'review access', about: 'who has which access now, with the digest that its review names', run: access },
  {
    typed: 'review sign audit-trail <outcome>',
    about: 'sign that you have reviewed the audit trail of a time: of one site (--site), or of the whole box',
    options: [['--from <time>', 'a time, or a duration back from now such as 30d'], ['--to <time>', 'now where it is left out'], REMARKS, ...PROOF],
    words: OUTCOME_WORDS,
    examples: ['lineside review sign audit-trail Accepted --from 90d --remarks "no change without its request"'],
    run: signTrail,
  },
  {
    typed: 'review sign user-access <outcome>',
    about: 'sign that you have reviewed who has which access, as lineside review access showed it',
    options: [['--digest <digest>', 'of the list that was looked at; another list is refused'], REMARKS, ...PROOF],
    words: OUTCOME_WORDS,
    run: signAccess,
  },
];
