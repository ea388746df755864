/**
 * Which resources of a list name which channel, kept up with the list: of 20,000 control modules one that is edited is looked at, the others stand as they
 * are known. Who asks has an answer of this very list in the same turn, so nothing is judged by an old one (ADR 0100). What is found may be more than
 * stands there, for a template has a word in it too, and never less.
 */
import type { Metadata } from '../../platform/store/resource.js';
import { ioModuleOf } from './kind.js';

interface Row<Spec> {
  readonly metadata: Pick<Metadata, 'name' | 'ownerReferences'>;
  readonly spec: Spec;
}

/** Names of the resources that mention a channel, by the name or address that they give it; one that does so twice stands there twice. */
export type Mentioned = ReadonlyMap<string, readonly string[]>;

/** By I/O module. A table that nothing has changed in is the same object as before. */
export type Mentions = ReadonlyMap<string, Mentioned>;

/** The channel of a mention is `<io module>:<name or address>`. */
export type ChannelsOf<Spec> = (row: Row<Spec>) => readonly string[];

interface Known<Spec> {
  readonly rows: readonly Row<Spec>[];
  readonly mentions: Mentions;
}

const NOBODY: readonly string[] = [];

/** Of one kind. Lists of several sites and stores do not mix, for they have no spec in common. */
export class ChannelMentions<Spec extends object> {
  readonly #channelsOf: ChannelsOf<Spec>;
  /** By the specs of a few rows of a list: an edit leaves at least one of them. */
  readonly #known = new WeakMap<Spec, Known<Spec>>();

  constructor(channelsOf: ChannelsOf<Spec>) {
    this.#channelsOf = channelsOf;
  }

  /** @param rows by name, as every list of a store. */
  of(rows: readonly Row<Spec>[]): Mentions {
    const anchors = anchorsOf(rows);
    const before = anchors.map((spec) => this.#known.get(spec)).find((known) => known !== undefined) ?? { rows: [], mentions: new Map() };
    if (before.rows === rows) return before.mentions;
    const known = { rows, mentions: this.#changed(before, rows) };
    for (const spec of anchors) this.#known.set(spec, known);
    return known.mentions;
  }

  #changed(before: Known<Spec>, rows: readonly Row<Spec>[]): Mentions {
    const draft = new Draft(before.mentions);
    for (const [was, is] of changesOf(before.rows, rows)) {
      const [gone, come] = [was ? this.#channelsOf(was) : NOBODY, is ? this.#channelsOf(is) : NOBODY];
      if (was) for (const [at, channel] of gone.entries()) if (channel !== come[at]) draft.remove(channel, was.metadata.name);
      if (is) for (const [at, channel] of come.entries()) if (channel !== gone[at]) draft.add(channel, is.metadata.name);
    }
    return draft.mentions;
  }
}

function anchorsOf<Spec>(rows: readonly Row<Spec>[]): readonly Spec[] {
  return [0, rows.length >> 1, rows.length - 1].flatMap((at) => (rows[at] ? [rows[at].spec] : []));
}

/** Rows that came, went, or are others in what they say; both lists are by name. */
function* changesOf<Spec>(before: readonly Row<Spec>[], after: readonly Row<Spec>[]): Generator<readonly [was: Row<Spec> | undefined, is: Row<Spec> | undefined]> {
  let from = 0;
  let to = 0;
  while (from < before.length || to < after.length) {
    const was = before[from];
    const is = after[to];
    if (was && is && was.metadata.name === is.metadata.name) {
      if (was !== is && !isAlike(was, is)) yield [was, is];
      from += 1;
      to += 1;
    } else if (!is || (was && was.metadata.name < is.metadata.name)) {
      yield [was, undefined];
      from += 1;
    } else {
      yield [undefined, is];
      to += 1;
    }
  }
}

function isAlike<Spec>(was: Row<Spec>, is: Row<Spec>): boolean {
  return was.spec === is.spec && was.metadata.ownerReferences === is.metadata.ownerReferences;
}

/** Mentions as they become: what somebody holds stays as it was read, so a table and a list of names are copied when they are first changed. */
class Draft {
  readonly #before: Mentions;
  readonly #tables = new Map<string, Map<string, readonly string[]>>();
  readonly #own = new WeakSet<readonly string[]>();

  constructor(before: Mentions) {
    this.#before = before;
  }

  add(channel: string, name: string): void {
    this.#namesAt(channel).push(name);
  }

  /** One of them: who names a channel twice stands there twice. */
  remove(channel: string, name: string): void {
    const names = this.#namesAt(channel);
    const at = names.indexOf(name);
    if (at >= 0) names.splice(at, 1);
    if (names.length === 0) this.#tableOf(ioModuleOf(channel)).delete(wordOf(channel));
  }

  #tableOf(module: string): Map<string, readonly string[]> {
    const table = this.#tables.get(module) ?? new Map(this.#before.get(module));
    this.#tables.set(module, table);
    return table;
  }

  #namesAt(channel: string): string[] {
    const table = this.#tableOf(ioModuleOf(channel));
    const word = wordOf(channel);
    const found = table.get(word) ?? NOBODY;
    const names = this.#own.has(found) ? (found as string[]) : [...found];
    this.#own.add(names);
    table.set(word, names);
    return names;
  }

  get mentions(): Mentions {
    if (this.#tables.size === 0) return this.#before;
    const mentions = new Map<string, Mentioned>([...this.#before, ...this.#tables]);
    for (const [module, table] of this.#tables) if (table.size === 0) mentions.delete(module);
    return mentions;
  }
}

const wordOf = (channel: string): string => channel.slice(ioModuleOf(channel).length + 1);

/** @param channel `<io module>:<name or address>`, as the specs have it. */
export function mentionsOf(mentions: Mentions, channel: string): readonly string[] {
  return mentions.get(ioModuleOf(channel))?.get(wordOf(channel)) ?? NOBODY;
}

/** Of the channels that a spec may name, those that lead to an I/O module. */
export function channelsNamed(channels: readonly unknown[]): readonly string[] {
  return channels.map((channel) => String(channel ?? '')).filter((channel) => ioModuleOf(channel) !== '');
}
