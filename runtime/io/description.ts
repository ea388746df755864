/**
 * How a field protocol describes itself: its word, options and address grammars (decisions 7.2 to 7.4). Metadata and pure
 * checks: no Node API, no device library, and nothing of the port, whose words are derived from the descriptions.
 */
import type { Value } from '../vocabulary/data-types.js';
import type { OptionSpec, OptionValue } from './options.js';
import type { Cell } from './place.js';

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

  // traits: what this protocol has and others have not; nobody outside its folder asks for it by its word

  /** No device is behind it: nothing real is driven, its channels can be forced, its modules of one controller tick together. */
  readonly isSimulated?: true;
  /** Its library is large and slow to load: its modules are served by a thread of their own. */
  readonly hasOwnThread?: true;
  /** Its devices have methods or services that can be called. */
  readonly hasServices?: true;
  /** Members of `security` that it takes (decisions 7.5); absent: only `secretRef`. */
  readonly securityMembers?: readonly string[];
  /** Why the place of a channel does not hold a value that its type takes; '' where it does, or where only the device knows. */
  problemOfValue?(address: string, value: Value): string;
  /** Which of the devices behind one endpoint, as text; absent: an endpoint is one device. */
  unitOf?(options: Options): string;
  /** The place of a channel address behind the endpoint, one of `unitOf` included; absent: each text is a place of its own. None of an address that does not read. */
  placeOf?(address: string, options: Options, endpoint: string): readonly Cell[];
  /** Whether two channel addresses lead to the same place of a device, or one to a part of the other; absent: equal texts do. */
  compareChannels?(a: string, b: string): 'same' | 'part' | 'other';
  /** Longest time in ms between two samples where they come by themselves; 0 where they are asked for, and absent where they always are. */
  arrivalMs?(options: Options): number;
  /** Devices with numbered registers, in which one can say which box drives it (ADR 0015). */
  readonly registers?: RegisterTraits;
}

type Options = Readonly<Record<string, OptionValue>>;

/** Of a protocol whose channels are places in numbered registers. */
export interface RegisterTraits {
  /** The ownership register behind an address: one whole number of 64 bits that is read and written in one request. */
  ownershipPoint(address: string): Parsed<{ readonly address: string; readonly dataType: ChannelType }>;
  /** Whether two channel addresses of a module have a register in common. */
  overlaps(a: string, b: string, options: Options): boolean;
}

/** Keeps the word of a description a word: the protocols of the product are the words of its descriptions. */
export function describe<const Word extends string>(description: DriverDescription<Word>): DriverDescription<Word> {
  return description;
}
