/**
 * What the checker knows about the surroundings of a text: the names of the phase, the steps of the chart, and the tags
 * its addresses lead to. All names are compared without regard to case and live in Maps, so `constructor` is a name like
 * any other.
 */
import type { DataType } from '../vocabulary/data-types.js';
import type { ChartName } from '../vocabulary/chart.js';
import type { StType } from './types.js';

export interface TagFacts {
  readonly name: string;
  readonly type: DataType;
  readonly writable: boolean;
  readonly engMin?: number;
  readonly engMax?: number;
  /** The tag has role `state`. */
  readonly isState?: boolean;
  /** Words a state tag may take; absent when they are not declared. */
  readonly stateWords?: readonly string[];
}

/** Tags of one template or module, by name in lower case. */
export type TagTable = ReadonlyMap<string, TagFacts>;

/** Makes a tag table; a later tag of the same name replaces an earlier one, as instance tags replace template tags. */
export function tagTable(tags: readonly TagFacts[]): TagTable {
  return new Map(tags.map((tag) => [tag.name.toLowerCase(), tag]));
}

export type NameKind = 'parameter' | 'output' | 'variable';

export interface NameFacts {
  readonly name: string;
  readonly type: StType;
  readonly kind: NameKind;
}

/** What an address leads to. `unresolved`: nothing is known here, the runtime will judge. */
export type TagLookup =
  | { readonly found: 'tag'; readonly tag: TagFacts }
  | { readonly found: 'signal' | 'channel' | 'unresolved' }
  | { readonly found: 'nothing'; readonly message: string };

export interface TextScope {
  /** Names by lower case. */
  readonly names: ReadonlyMap<string, NameFacts>;
  /** Type of `<step>.<member>`; undefined when there is no such member. */
  readonly member: (object: string, member: string) => StType | undefined;
  readonly tag: (address: string) => TagLookup;
  /** Why a builtin may not be used here; undefined when it may. */
  readonly refuse?: (builtin: string) => string | undefined;
  readonly chart?: ChartName;
  readonly edgeLocalHold?: boolean;
  readonly cyclic?: boolean;
  /** The step has a time-out, which AWAIT_RESULT needs. */
  readonly timeout?: boolean;
}

/** `<step>.T` and `<step>.X` of a chart (decisions D-ST-01). */
export function stepMembers(steps: Iterable<string>): TextScope['member'] {
  const known = new Set([...steps].map((step) => step.toLowerCase()));
  return (object, member) => {
    if (!known.has(object.toLowerCase())) return undefined;
    const word = member.toUpperCase();
    if (word === 'T') return 'TIME';
    return word === 'X' ? 'BOOL' : undefined;
  };
}

/**
 * Follows an address of READ and WRITE (decisions 2.3, 4.5): `owner.tag`, `signal:<name>`, `barrier:<name>`,
 * `<ioModule>:<channel>`. `tagsOf` gives the tags of a role or module: undefined when they are not known.
 */
export function lookUp(address: string, tagsOf: (owner: string) => TagTable | undefined): TagLookup {
  const colon = address.indexOf(':');
  if (colon > 0 && colon < address.length - 1) {
    const scheme = address.slice(0, colon);
    return { found: scheme === 'signal' || scheme === 'barrier' ? 'signal' : 'channel' };
  }
  const point = address.indexOf('.');
  if (point < 1 || point === address.length - 1) return { found: 'nothing', message: `'${address}' is not an address; write <role>.<tag>, <module>.<tag> or signal:<name>` };
  const owner = address.slice(0, point);
  const tags = tagsOf(owner);
  if (tags === undefined) return { found: 'unresolved' };
  const tag = tags.get(address.slice(point + 1).toLowerCase());
  return tag ? { found: 'tag', tag } : { found: 'nothing', message: `${owner} has no tag ${address.slice(point + 1)}` };
}
