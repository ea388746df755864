/**
 * How a field protocol describes itself: its word, options and address grammars (decisions 7.2 to 7.4). Metadata and pure
 * checks: no Node API, no device library, and nothing of the port, whose words are derived from the descriptions.
 */
import type { OptionSpec } from './options.js';

export type ChannelType = 'bool' | 'int' | 'float' | 'string';
export type Direction = 'input' | 'output';

/** A parse that either reads or says why not. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

export function parsed<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

export function refused(message: string): { readonly ok: false; readonly message: string } {
  return { ok: false, message };
}

/** What the gateway needs to know of a protocol; no Node API and no device library behind it. */
export interface DriverDescription<Word extends string = string> {
  /** The word of the API. */
  readonly protocol: Word;
  readonly options: readonly OptionSpec[];
  /** The device endpoint; the value is its normalised form, equal for equal devices. */
  parseAddress(text: string): Parsed<string>;
  /** A channel address; the data type is undefined when only the device knows it. */
  parseChannel(text: string, direction: Direction): Parsed<{ readonly dataType: ChannelType | undefined }>;
}

/** Keeps the word of a description a word: the protocols of the product are the words of its descriptions. */
export function describe<const Word extends string>(description: DriverDescription<Word>): DriverDescription<Word> {
  return description;
}
