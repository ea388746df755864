/**
 * What a function block is: one object with the row of the catalog (decisions 5.2) and a code fragment.
 *
 * A block is never called. `network/compile.ts` pastes the fragments of all blocks of a network, in data-flow order, into
 * one function that loops over every instance of the network, so a fragment is written in the names of the row:
 *
 * | in the fragment | stands for |
 * |---|---|
 * | `$NAME` | value of an input, output, parameter or state word; BOOL is 0 or 1, TIME whole ms, STRING the id of a text |
 * | `$NAME.q` | quality code of an input or output |
 * | `$q` | quality of the outputs: the worst of the connected inputs, unless the fragment assigns it |
 * | `$fail` | the block error of decisions 5.1 rule 6: nothing of this scan is taken over |
 * | `$first` | 1 in the first scan of the block |
 * | `$free(NAME)` | true when the input is neither connected nor bound to a variable |
 * | `$put(NAME, x)` | writes such an input, which then keeps the value; nothing for one that is fed |
 * | `$text(word)` | id of one of the fixed texts of the block's state words |
 * | `$manual` | 1 while the module is in Manual |
 * | `$channel`, `$channel.q` | value and quality of the I/O channel of the block; Bad when the driver has no number |
 * | `$ack`, `$back` | acknowledgement of the last write of an output channel and the value read back |
 * | `$aux`, `$auxLength` | first word and length of the block's own part of the array `X` |
 * | `dt`, `dtMs` | plant time since the last scan, in seconds and in ms |
 *
 * Invariant: a fragment contains no text of a user; everything that differs between instances is in typed arrays.
 */
import type { DataType } from '../vocabulary/data-types.js';
import type { ParamValue } from '../vocabulary/network.js';

export type PortType = DataType | 'NUM' | 'ANY';

export interface Port {
  readonly name: string;
  readonly type: PortType;
  /** Value when nothing feeds the port. */
  readonly initial: number | string;
  /** One of the further inputs of an extensible block: it takes part only when connected or constant. */
  readonly optional: boolean;
  /** The value must be a constant in `params` (presets of timers and counters). */
  readonly constant: boolean;
}

export interface Param {
  readonly name: string;
  readonly type: DataType | 'ANY';
  readonly required: boolean;
  /** Text of the default; undefined is the empty default of a limit that is not checked. */
  readonly fallback: string | undefined;
  /** The words a STRING parameter may have; the fragment sees the index. */
  readonly words: readonly string[] | undefined;
}

/** What a fragment that is a function may ask about the block it is written for. */
export interface BlockForm {
  /** Type of a port once NUM and ANY are settled. */
  type(port: string): DataType;
  /** The inputs whose names begin with `prefix` and that are connected, bound or constant. */
  used(prefix?: string): readonly string[];
  /** Whether a parameter or an unconnected input is switched off for good: FALSE, zero, or an empty limit. */
  off(name: string): boolean;
}

export type Family = 'io' | 'timers' | 'counters' | 'edges' | 'bistables' | 'arithmetic' | 'comparison' | 'logic' | 'selection' | 'signal' | 'control' | 'devices' | 'alarms';

export interface BlockType {
  readonly name: string;
  readonly family: Family;
  readonly description: string;
  readonly inputs: readonly Port[];
  readonly outputs: readonly Port[];
  readonly params: readonly Param[];
  /** State words and their start values. */
  readonly state: Readonly<Record<string, number>>;
  /** State words that only cache a result and are not carried over a change of parameters. */
  readonly caches: readonly string[];
  /** State words and inputs that survive a restart (decisions 3.8). */
  readonly retained: readonly string[];
  /** Inputs the block itself writes, with `$put`, when nothing feeds them. */
  readonly selfWritten: readonly string[];
  /** State words as they must be so that its outputs go on from where they are under other parameters; called between two scans (D-C-13). */
  readonly retuned: ((last: LastScan) => Readonly<Record<string, number>>) | undefined;
  readonly stateWords: readonly string[] | undefined;
  /** Words of a text output that is no device state. */
  readonly fixedTexts: readonly string[];
  readonly channel: ChannelUse | undefined;
  readonly aux: AuxUse | undefined;
  readonly code: (form: BlockForm) => string;
  /** Runs after an override of an output took effect (decisions 5.1 rule 7). */
  readonly after: string;
  /** Outputs can never be anything but finite, so the check is left out. */
  readonly total: boolean;
  /** Types that its ANY ports do not take. */
  readonly refuses: readonly DataType[];
}

/** A block between the last scan with its former parameters and the first one with others. */
export interface LastScan {
  /** A word of a text parameter is its index, a time is in ms. */
  readonly before: Readonly<Record<string, number>>;
  readonly after: Readonly<Record<string, number>>;
  readonly state: (word: string) => number;
  /** Value of an input or output in that scan. */
  readonly port: (name: string) => number;
}

export interface ChannelUse {
  readonly direction: 'input' | 'output';
  /** Output or state word that is written to the channel. */
  readonly raw?: string;
}

/** Words of the array `X` that one block needs: delay lines and tables. */
export interface AuxUse {
  /** Number of words; a text when the parameters do not fit the scan interval. */
  length(params: Readonly<Record<string, number | string>>, scanIntervalMs: number): number | string;
  /** Content at load; absent when the words are state. */
  fill?(params: Readonly<Record<string, number | string>>): readonly number[];
}

/** How a block file writes its row: ports and parameters in the notation of decisions 5.1 rule 1. */
export interface BlockRow {
  readonly name: string;
  readonly family: Family;
  readonly description: string;
  readonly inputs?: string;
  readonly outputs: string;
  readonly params?: string;
  /** Allowed words of STRING parameters, the default first or named in `params`. */
  readonly words?: Readonly<Record<string, readonly string[]>>;
  readonly constant?: readonly string[];
  readonly state?: Readonly<Record<string, number>>;
  readonly caches?: readonly string[];
  readonly retained?: readonly string[];
  readonly selfWritten?: readonly string[];
  readonly retuned?: (last: LastScan) => Readonly<Record<string, number>>;
  readonly stateWords?: readonly string[];
  readonly fixedTexts?: readonly string[];
  readonly channel?: ChannelUse;
  readonly aux?: AuxUse;
  readonly code: string | ((form: BlockForm) => string);
  readonly after?: string;
  readonly total?: boolean;
  readonly refuses?: readonly DataType[];
}

const ENTRY = /^([A-Za-z_][A-Za-z0-9_]*?)(\d*)(?:\.\.([A-Za-z_]+?)(\d+))?:([A-Z]+)(!?)(\?)?(?:=(.*))?$/;

interface Entry {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly optional: boolean;
  readonly fallback: string | undefined;
}

/** `IN1:NUM, IN3..IN8:NUM?` to one entry per port; a range stands for every name from its first to its last number. */
function readEntries(text: string): Entry[] {
  return text
    .split(', ')
    .filter((part) => part !== '')
    .flatMap((part) => {
      const match = ENTRY.exec(part);
      if (!match) throw new Error(`"${part}" is not in the notation of a catalogue row`);
      const [, stem = '', first = '', , last, type = '', required, optional, fallback] = match;
      const entry = { type, required: required === '!', optional: optional === '?', fallback };
      if (last === undefined) return [{ name: stem + first, ...entry }];
      const names: string[] = [];
      for (let n = Number(first); n <= Number(last); n += 1) names.push(`${stem}${n}`);
      return names.map((name) => ({ name, ...entry }));
    });
}

const PLAIN_DEFAULT: Readonly<Record<string, number | string>> = { STRING: '' };

function readDefault(type: string, text: string | undefined): number | string {
  if (text === undefined || text === '') return PLAIN_DEFAULT[type] ?? 0;
  if (type === 'BOOL') return text === 'TRUE' ? 1 : 0;
  if (type === 'STRING') return text;
  if (type === 'TIME') return Number.parseFloat(text.slice(2)) * 1000;
  return Number(text);
}

function ports(text: string, constant: readonly string[]): Port[] {
  return readEntries(text).map((entry) => ({
    name: entry.name,
    type: entry.type as PortType,
    initial: readDefault(entry.type, entry.fallback),
    optional: entry.optional,
    constant: constant.includes(entry.name),
  }));
}

/** Makes a block type out of its row. The first scan flag becomes a state word where the fragment asks for it. */
export function block(row: BlockRow): BlockType {
  const { code, after = '' } = row;
  const asksFirst = typeof code === 'string' && `${code}${after}`.includes('$first');
  return {
    name: row.name,
    family: row.family,
    description: row.description,
    inputs: ports(row.inputs ?? '', row.constant ?? []),
    outputs: ports(row.outputs, []),
    params: readEntries(row.params ?? '').map((entry) => ({
      name: entry.name,
      type: entry.type as Param['type'],
      required: entry.required,
      fallback: entry.fallback === '' && entry.type !== 'STRING' ? undefined : (entry.fallback ?? (entry.required ? undefined : '')),
      words: row.words?.[entry.name],
    })),
    state: asksFirst ? { ...row.state, first: 1 } : (row.state ?? {}),
    caches: row.caches ?? [],
    retained: row.retained ?? [],
    selfWritten: row.selfWritten ?? [],
    retuned: row.retuned,
    stateWords: row.stateWords,
    fixedTexts: row.fixedTexts ?? [],
    channel: row.channel,
    aux: row.aux,
    code: typeof code === 'string' ? () => code : code,
    after,
    total: row.total ?? false,
    refuses: row.refuses ?? [],
  };
}

/** Fixed defaults of the plain data types, for parameters without one. */
export function plainDefault(type: DataType): ParamValue {
  if (type === 'BOOL') return false;
  return type === 'STRING' ? '' : 0;
}

/** Most scans a delay line or window may hold (decisions 5.2). */
export const DELAY_SCANS_MAX = 10_000;

/** Scans in a duration, to the nearest; an empty time is none, as an empty limit is (NaN). */
export function scansOf(durationMs: number, scanIntervalMs: number): number {
  return Number.isNaN(durationMs) ? 0 : Math.round(durationMs / scanIntervalMs);
}

/** Nearest INT, halves to even; adding zero turns -0 into 0. */
export const ROUND_HALF_EVEN = `
    const nearest = Math.round($IN);
    $OUT = (Math.abs($IN % 1) === 0.5 && nearest % 2 !== 0 ? nearest - 1 : nearest) + 0;`;

/** Orders numbers directly and texts by code point. */
export function comparison(operator: '>' | '>=' | '<' | '<='): (form: BlockForm) => string {
  return (form) => (form.type('IN1') === 'STRING' ? `$OUT = T.compare($IN1, $IN2) ${operator} 0 ? 1 : 0;` : `$OUT = $IN1 ${operator} $IN2 ? 1 : 0;`);
}
