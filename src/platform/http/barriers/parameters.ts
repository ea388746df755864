/**
 * Step 11, after size and media type and before the syntax of the body: a route takes the query parameters of its row
 * (D-C-04), since one that is mistyped would otherwise answer another question than was asked. A reading MES client is
 * told instead: it may send what other systems know.
 */
import { nearest } from '../../base/nearest.js';
import { invalid } from '../../base/refusal.js';
import type { Barrier } from './barrier.js';

type Judged = Parameters<Barrier>[0];

/** Of the names of unknown parameters in a header: whoever sends more is not helped by them. */
const WARNING_LENGTH_MAX = 512;

export const parameters: Barrier = (exchange) => {
  const { row, incoming } = exchange;
  const isJudged = incoming.rawQuery !== '' && row.strayParameters !== 'any';
  if (isJudged) judgeStray(exchange);
  row.bound.row.queryRule?.(exchange.query);
  if (isJudged) judgeRepeated(exchange); // behind the rule, which may have words of its own for it
  if (!row.mutating && row.bound.row.formats) void exchange.format; // refuses an unknown form before the handler works
  return undefined;
};

function judgeStray(exchange: Judged): void {
  const { row } = exchange;
  const stray = exchange.parameterNames.filter((name) => !row.parameters.includes(name));
  if (stray[0] !== undefined && row.strayParameters === 'refused') throw unknownParameter(stray[0], row.parameters);
  if (stray.length > 0) exchange.warning = warningOf(stray, row.parameters);
}

/** Of two values one is left out, and whoever sent them would not know which. */
function judgeRepeated(exchange: Judged): void {
  const { row, parameterNames: names } = exchange;
  const repeated = row.parameters.filter((name) => !row.listParameters.includes(name) && names.indexOf(name) < names.lastIndexOf(name));
  if (repeated[0] === undefined) return;
  if (row.strayParameters === 'refused') throw invalid('invalid_query', repeated[0], `query parameter ${repeated[0]} is given more than once; give one value`);
  const told = `given more than once, the first counts: ${repeated.join(', ')}`;
  exchange.warning = exchange.warning === undefined ? told : `${exchange.warning}; ${told}`;
}

function unknownParameter(name: string, known: readonly string[]): Error {
  const near = nearest(name, known);
  const way = known.length === 0 ? 'this route takes none' : near === undefined ? `known here: ${known.join(', ')}` : `the nearest known one is ${near}`;
  return invalid('unknown_parameter', name, `unknown query parameter ${name}; ${way}`, { allowed: known, ...(near === undefined ? {} : { nearest: near }) });
}

/** Percent-encoded, since a name may hold the end of a header line; a parsed one is Unicode text. */
function warningOf(stray: readonly string[], known: readonly string[]): string {
  const names = stray.map((name) => encodeURIComponent(name)).join(', ');
  return `ignored unknown query parameters: ${names.slice(0, WARNING_LENGTH_MAX)}; ${known.length === 0 ? 'this route takes none' : `known here: ${known.join(', ')}`}`;
}
