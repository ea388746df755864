/** get, describe, delete: single resources by the words of their kinds. */
import * as v from 'valibot';
import { shortText } from '../../platform/base/short-text.js';
import { yamlText } from '../../platform/base/yaml.js';
import { addressOf } from '../../client/typed.js';
import type { Box } from './box.js';
import { type CommandContext, type CommandRow, textOf } from './command.js';
import { FAMILIES, type Family, familyOf } from './families.js';
import { type Outcome, table, usage } from './outcome.js';

type Served = Readonly<Record<string, unknown>>;

/** Members that a list shows, those that the kind has; by what people look for first. */
const COLUMNS = [
  'name',
  'phase',
  'state',
  'batchID',
  'mode',
  'runtimeReady',
  'protocol',
  'unitRef',
  'parentName',
  'templateRef',
  'productID',
  'version',
  'processCellName',
  'areaName',
  'description',
];
const COLUMNS_MAX = 6;
const CELL_MAX = 48;

export function addressOfOne(family: Family, site: string, name: string): string {
  return `${addressOfAll(family, site)}/${encodeURIComponent(name)}`;
}

/** Kinds that no export holds, or whose list is a question of its own. */
const LISTED_BY: Readonly<Partial<Record<string, string>>> = {
  BatchRecord: 'lineside records list',
  CableAcceptance: 'lineside io acceptance list',
  ChangeRequest: 'lineside change list',
  LoopCheck: 'lineside io loop-check list',
  RecipeRevision: 'GET /api/v1/sites/{site}/recipes/master/{name}/revisions',
};

function addressOfAll({ kind, path, isOfSite }: Family, site: string): string {
  if (path === undefined) throw usage(`${kind} has no list of its own: ${LISTED_BY[kind] ?? `lineside export --kinds ${kind}`} shows it`);
  return addressOf(isOfSite ? `/api/v1/sites/{site}/${path}` : `/api/v1/${path}`, { path: { site } });
}

const siteFor = async (box: Box, { isOfSite }: Family): Promise<string> => (isOfSite ? box.site() : '');

async function get({ box, args: [word = '', name = ''] }: CommandContext): Promise<Outcome> {
  const family = familyOf(word);
  const site = await siteFor(box, family);
  if (name !== '') {
    const one = await box.api.get<Served>(addressOfOne(family, site, name));
    return { data: one, text: yamlText(one).trimEnd() };
  }
  const listedBy = LISTED_BY[family.kind];
  if (listedBy !== undefined) throw usage(`${family.kind} is not listed by get: ${listedBy} shows it`);
  const all = await box.api.getAll<Served>(`${addressOfAll(family, site)}?limit=500`);
  return { data: all, text: all.length === 0 ? `there is no ${family.word}${site === '' ? '' : ` in ${site}`}` : listed(all) };
}

/** What is not as it should be has a mark in its row, and says below the table what it is. */
function listed(all: readonly Served[]): string {
  const shown = COLUMNS.filter((column) => all.some((each) => isWord(each[column]))).slice(0, COLUMNS_MAX);
  const amiss = new Map(all.flatMap((each) => amissOf(each).map((message) => [each, message] as const)));
  const rows = table(
    [...shown, ...(amiss.size === 0 ? [] : ['configuration'])],
    all.map((each) => [...shown.map((column) => cell(each[column])), ...(amiss.size === 0 ? [] : [amiss.has(each) ? 'not valid' : ''])]),
  );
  return [rows, ...(amiss.size === 0 ? [] : ['']), ...[...amiss].map(([{ name }, message]) => `${String(name)}: ${message}`)].join('\n');
}

const Conditions = v.array(v.object({ type: v.string(), status: v.string(), message: v.string() }));

function amissOf({ conditions }: Served): readonly string[] {
  const told = v.safeParse(Conditions, conditions);
  return told.success ? told.output.filter(({ type, status }) => type === 'ConfigurationValid' && status === 'False').map(({ message }) => message) : [];
}

const isWord = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value) && value !== '';

function cell(value: unknown): string {
  if (!isWord(value)) return '';
  return shortText(String(value).replaceAll('\n', ' '), CELL_MAX);
}

const AUDITS_SHOWN = 5;

async function describe({ box, args: [word = '', name = ''] }: CommandContext): Promise<Outcome> {
  const family = familyOf(word);
  const site = await siteFor(box, family);
  const one = await box.api.get<Served>(addressOfOne(family, site, name));
  const usedBy = await box.typed.get('/api/v1/used-by', { query: { kind: family.kind, name, ...(site === '' ? {} : { site }) } });
  const path = site === '' ? undefined : { site };
  const audits = path ? (await box.typed.get('/api/v1/sites/{site}/audit', { path, query: { kind: family.kind, name, limit: AUDITS_SHOWN } })).items : [];
  const text = [
    `${family.kind} ${name}${site === '' ? '' : ` of ${site}`}`,
    '',
    yamlText(one).trimEnd(),
    '',
    usedBy.items.length === 0 ? 'used by nothing' : `used by:\n${usedBy.items.map((user) => `  ${user.kind} ${user.name}`).join('\n')}`,
    ...(audits.length === 0 ? [] : ['', 'last records:', ...audits.map((each) => `  ${each.timestamp}  ${each.displayName}  ${each.action}  ${each.result}`)]),
  ].join('\n');
  return { data: { resource: one, usedBy, audits }, text };
}

/** No route that deletes a resource takes a body; a reason that was typed is told so, and not dropped. */
async function remove({ box, args: [word = '', name = ''], options }: CommandContext): Promise<Outcome> {
  const family = familyOf(word);
  if (textOf(options, 'reason') !== undefined)
    throw usage(`${family.word} is deleted without a reason: leave --reason out. The audit trail keeps who deleted it, when, and what it was`);
  await box.api.remove(addressOfOne(family, await siteFor(box, family), name));
  return { data: { kind: family.kind, name }, text: `removed ${family.kind} ${name}` };
}

const KIND_WORDS = { kind: FAMILIES.filter(({ path }) => path !== undefined).map(({ word }) => word) };

export const RESOURCE_COMMANDS: readonly CommandRow[] = [
  {
    typed: 'get <kind> [name]',
    about: 'list the resources of a kind, or show one',
    examples: ['lineside get units', 'lineside get recipe pilsner -o json'],
    words: KIND_WORDS,
    run: get,
  },
  { typed: 'describe <kind> <name>', about: 'one resource with who uses it and what happened to it', words: KIND_WORDS, run: describe },
  {
    typed: 'delete <kind> <name>',
    about: 'remove a resource that nothing needs',
    options: [['--reason <text>', 'taken by no kind: the audit trail keeps who deleted it, when, and what it was']],
    words: KIND_WORDS,
    run: remove,
  },
];
