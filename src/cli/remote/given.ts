/** What several commands take from their options in one way. */
import type { ListPage } from '../../client/api.js';
import type { Box, GivenProof } from './box.js';
import { type CommandContext, type Given, textOf, textsOf } from './command.js';
import { usage } from './outcome.js';
import { SECOND_FACTOR } from './second-code.js';
import { firstLine } from './terminal.js';
import { parseDuration } from '../../platform/base/duration-text.js';

/** Of `--param name=value ...`, in the order in which they were given. */
export function pairsOf(texts: readonly string[], option: string, example: string): readonly { readonly name: string; readonly value: string }[] {
  return texts.map((text) => {
    const at = text.indexOf('=');
    if (at < 1) throw usage(`${option} ${text}: give it as ${example}`);
    return { name: text.slice(0, at), value: text.slice(at + 1) };
  });
}

export function recordOf(pairs: readonly { readonly name: string; readonly value: string }[]): Record<string, string> {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}

/** Milliseconds of `--timeout`, a number of seconds or a duration; undefined for no end. */
export function timeoutOf({ options }: CommandContext): number | undefined {
  const given = textOf(options, 'timeout');
  if (given === undefined) return undefined;
  const ms = /^\d+(\.\d+)?$/.test(given) ? Number(given) * 1000 : parseDuration(given);
  if (ms === null || ms <= 0) throw usage(`--timeout ${given}: give seconds, or a duration such as 90s or 5m`);
  return ms;
}

const LIMIT_DEFAULT = 100;
/** The longest page of a list. */
const LIMIT_MAX = 1000;
export const LIMIT = ['--limit <number>', `at most so many, ${LIMIT_DEFAULT} where it is left out`] as const;

export function limitOf({ options }: CommandContext): number {
  const limit = Number(textOf(options, 'limit') ?? LIMIT_DEFAULT);
  if (!Number.isInteger(limit) || limit < 1 || limit > LIMIT_MAX) throw usage(`--limit is a whole number from 1 to ${LIMIT_MAX}`);
  return limit;
}

/** Of a list that was cut: programs get what they asked for, people are told. */
export function tellMore({ terminal }: CommandContext, { items, next, total }: ListPage<unknown>, words: string): void {
  if (next === '') return;
  const more = total > items.length ? `${total - items.length} more` : 'there are more';
  terminal.say(`lineside: the first ${items.length} are shown, ${more}: ${words}`);
}

/** The reason that goes with what is done: asked for at the terminal where the box wants one and none was given. */
export async function reasonFor({ box, options, terminal }: CommandContext, what: string): Promise<string | undefined> {
  const given = textOf(options, 'reason');
  if (given !== undefined) return given;
  const { reasonMinLength } = await box.typed.get('/api/v1/auth/config', {});
  return reasonMinLength > 0 ? terminal.ask(`reason for ${what}, at least ${reasonMinLength} characters (--reason): `) : undefined;
}

/** A reason that a signature carries. */
export async function signedReason({ options, terminal }: CommandContext, what: string): Promise<string> {
  return textOf(options, 'reason') ?? (await terminal.ask(`reason for ${what} (--reason): `));
}

/** @throws CommandError naming the words. */
export function oneOfWords<Word extends string>(options: Given, name: string, words: readonly Word[]): Word | undefined {
  const given = textOf(options, name);
  const word = words.find((each) => each.toLowerCase() === given?.toLowerCase());
  if (given !== undefined && word === undefined) throw usage(`--${name} ${given}: give ${words.join(', ')}`);
  return word;
}

/** What of a proof is not asked for at the terminal. @param line of standard input. */
export function proofGiven(options: Given, line: () => Promise<string>): GivenProof {
  return { password: options.passwordStdin === true ? line : undefined, code: textOf(options, 'secondFactor') };
}

/** What is signed asks for the password at the terminal, or takes it from standard input. */
export function signed<T>({ box, options, terminal }: CommandContext & { readonly box: Box }, work: () => Promise<T>): Promise<T> {
  return box.signed(
    work,
    proofGiven(options, () => firstLine(terminal)),
  );
}

export const REASON = ['--reason <text>', 'why; goes on record. Asked for at the terminal where it is left out and the box wants one'] as const;
export const PASSWORD = ['--password-stdin', 'take the password to sign with from standard input, where the box asks for it'] as const;
/** Of whatever is signed. */
export const PROOF = [PASSWORD, SECOND_FACTOR] as const;
export const TIMEOUT = ['--timeout <time>', 'of --wait: seconds, or a duration such as 5m; without it there is no end'] as const;

export function parameterOptions(): readonly (readonly [string, string])[] {
  return [
    ['--param <name=value...>', 'parameter of the recipe, in place of its value in the formula; may be repeated'],
    ['--unit <capability=unit...>', 'unit for a capability that the recipe asks for; may be repeated'],
    ['--quantity <number>', 'size of the batch; the size of the recipe where it is left out'],
  ];
}

export function parametersOf({ options }: CommandContext) {
  const parameters = pairsOf(textsOf(options, 'param'), '--param', '--param reactTime=20');
  const equipment = recordOf(pairsOf(textsOf(options, 'unit'), '--unit', '--unit reactor=rx101'));
  const quantity = textOf(options, 'quantity');
  return {
    ...(parameters.length === 0 ? {} : { parameters: [...parameters] }),
    ...(Object.keys(equipment).length === 0 ? {} : { equipment }),
    ...(quantity === undefined ? {} : { quantity }),
  };
}
