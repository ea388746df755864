/**
 * The route table as a tree of path segments (decisions Q-ERR-03). A literal segment beats a parameter, a parameter beats
 * the rest of the path. Each segment is percent-decoded once, here and nowhere else, so `%2F` inside a tag address stays
 * part of its segment.
 */
import { assert } from '../base/assert.js';
import type { BoundRoute, Method, Params } from './route.js';

export interface Target {
  readonly methods: Map<Method, BoundRoute>;
}

export type Match = { readonly found: 'target'; readonly target: Target; readonly params: Params } | { readonly found: 'nothing' } | { readonly found: 'malformed' };

interface Leaf extends Target {
  readonly names: readonly string[];
}

class Node {
  readonly literals = new Map<string, Node>();
  parameter: Node | undefined;
  leaf: Leaf | undefined;
  rest: Leaf | undefined;
}

const RECENT_MAX = 4096;
const RECENT_LENGTH_MAX = 256; // with it the memory of recent paths stays below some MB, whoever asks for what
const NO_PARAMS: Params = Object.freeze({}) as Params;
const NOTHING: Match = { found: 'nothing' };
const MALFORMED: Match = { found: 'malformed' };

export class Router {
  readonly #root = new Node();
  /** Paths without parameters, found by one look-up. */
  readonly #fixed = new Map<string, Match>();
  /** Paths asked for lately: consoles read the same ones over and over. */
  readonly #recent = new Map<string, Match>();
  readonly #bound: BoundRoute[] = [];

  get routes(): readonly BoundRoute[] {
    return this.#bound;
  }

  match(path: string): Match {
    const known = this.#recent.get(path) ?? this.#fixed.get(path);
    if (known) return known;
    const match = this.#find(path);
    if (match.found !== 'target' || path.length > RECENT_LENGTH_MAX) return match;
    if (this.#recent.size >= RECENT_MAX) this.#recent.clear();
    this.#recent.set(path, match);
    return match;
  }

  #find(path: string): Match {
    if (path.charCodeAt(0) !== 0x2f) return NOTHING;
    const segments = path.split('/');
    if (path.includes('%') && !decodeInPlace(segments)) return MALFORMED;
    const values: string[] = [];
    const leaf = find(this.#root, segments, 1, values);
    if (!leaf) return NOTHING;
    if (leaf.names.length === 0) return { found: 'target', target: leaf, params: NO_PARAMS };
    const params: Record<string, string> = {};
    for (const [i, name] of leaf.names.entries()) params[name] = values[i] as string; // as many as names: the walk took one for each
    return { found: 'target', target: leaf, params: Object.freeze(params) }; // requests of one path share it
  }

  add(bound: BoundRoute): void {
    const { row } = bound;
    const names: string[] = [];
    let node = this.#root;
    let leaf: Leaf | undefined;
    for (const segment of row.path.split('/').slice(1)) {
      assert(!leaf, `nothing follows the rest parameter in ${row.path}`);
      const parameter = /^\{(\w+)(\.\.\.)?\}$/.exec(segment);
      if (!parameter) {
        let next: Node | undefined = node.literals.get(segment);
        if (!next) node.literals.set(segment, (next = new Node()));
        node = next;
        continue;
      }
      names.push(parameter[1] as string);
      if (parameter[2]) leaf = node.rest ??= { names, methods: new Map() };
      else node = node.parameter ??= new Node();
    }
    leaf ??= node.leaf ??= { names, methods: new Map() };
    assert(leaf.names.join() === names.join(), `rows of one path name their parameters alike: ${row.path}`);
    assert(!leaf.methods.has(row.method), `one row per method and path: ${row.method} ${row.path}`);
    leaf.methods.set(row.method, bound);
    this.#bound.push(bound);
    if (names.length === 0) this.#fixed.set(row.path, { found: 'target', target: leaf, params: NO_PARAMS });
  }
}

function find(node: Node, segments: readonly string[], at: number, values: string[]): Leaf | undefined {
  if (at === segments.length) return node.leaf;
  const segment = segments[at] as string; // at < length
  const literal = node.literals.get(segment);
  if (literal) {
    const leaf = find(literal, segments, at + 1, values);
    if (leaf) return leaf;
  }
  if (segment !== '' && node.parameter) {
    values.push(segment);
    const leaf = find(node.parameter, segments, at + 1, values);
    if (leaf) return leaf;
    values.pop();
  }
  if (segment !== '' && node.rest) {
    values.push(segments.slice(at).join('/'));
    return node.rest;
  }
  return undefined;
}

function decodeInPlace(segments: string[]): boolean {
  for (const [i, segment] of segments.entries()) {
    if (!segment.includes('%')) continue;
    try {
      segments[i] = decodeURIComponent(segment);
    } catch {
      return false;
    }
  }
  return true;
}
