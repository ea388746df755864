/**
 * The fragment of a block in pieces: what stands there as it is, and the `$` names in between with what they mean for the
 * type. A network has a thousand blocks of a few dozen fragments, so each is read once.
 */
import type { BlockType } from '../blocks/block.js';
import { fixedText } from './texts.js';

export interface NamePiece {
  readonly name: string;
  /** `$name.q`. */
  readonly quality: boolean;
  /** Numbers in the row of the type; -1 when it is none. */
  readonly input: number;
  readonly output: number;
  readonly param: number;
}

/** `$put(NAME, value);`: the block writes an input of its own when nothing feeds it. */
export interface PutPiece {
  readonly put: NamePiece;
  readonly value: readonly Piece[];
}

/** `$free(NAME)`: whether nothing feeds the input. */
export interface FreePiece {
  readonly free: number;
}

export type Piece = string | NamePiece | PutPiece | FreePiece;

export interface Fragment {
  /** Its own number: two fragments of one number are the same text of the same type. */
  readonly id: number;
  readonly code: readonly Piece[];
  readonly after: readonly Piece[];
  /** Names that code and after speak of, those they assign, and those whose quality they set. */
  readonly names: ReadonlySet<string>;
  readonly assigned: ReadonlySet<string>;
  readonly qualitiesSet: ReadonlySet<string>;
  /** Names whose quality the part behind the override speaks of. */
  readonly qualitiesAfter: ReadonlySet<string>;
  /** The code looks a text up, which may fail; it may say itself that it failed. */
  readonly usesTexts: boolean;
  readonly fails: boolean;
  /** The code speaks of the worst quality of its inputs, and changes it. */
  readonly usesQuality: boolean;
  readonly changesQuality: boolean;
}

/** More forms of one type come only from extensible blocks of many sizes. */
const FORMS_MAX = 500;
let fragments = 0;
const known = new WeakMap<BlockType, Map<string, Fragment>>();

const TOKEN = /\$put\((\w+), ([^;]+)\);|\$free\((\w+)\)|\$text\((\w+)\)|(\$fail\b)|\$([A-Za-z_]\w*)(\.q\b)?/g;

/** `code` is what the type gave for the form of a block. */
export function fragmentOf(type: BlockType, code: string): Fragment {
  let forms = known.get(type);
  if (!forms || forms.size >= FORMS_MAX) known.set(type, (forms = new Map()));
  let fragment = forms.get(code);
  if (!fragment) forms.set(code, (fragment = readFragment(type, code)));
  return fragment;
}

function readFragment(type: BlockType, code: string): Fragment {
  const all = `${code}\n${type.after}`;
  const names = (text: string, pattern: RegExp): Set<string> => new Set([...text.matchAll(pattern)].map(([, name = '']) => name));
  // what is left of it when every name but the worst quality is out of the way
  const plain = code.replace(/\$\w+\.q\b/g, '0').replace(/\$q\b/g, 'q');
  const usesTexts = /\bT\./.test(plain);
  fragments += 1;
  return {
    id: fragments,
    code: piecesOf(type, `${code}\n`),
    after: piecesOf(type, type.after),
    names: names(all, /\$(\w+)/g),
    assigned: names(all, /\$(\w+)\s*(?:[-+*/|&^]?=(?!=)|\+\+|--)/g),
    qualitiesSet: names(all, /\$(\w+)\.q\s*=[^=]/g),
    qualitiesAfter: names(type.after, /\$(\w+)\.q/g),
    usesTexts,
    fails: usesTexts || /\$fail\b|\berr = 1/.test(plain),
    usesQuality: /\bq\b/.test(plain),
    changesQuality: /\bq\s*=[^=]/.test(plain),
  };
}

function piecesOf(type: BlockType, text: string): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const match of text.matchAll(TOKEN)) {
    if (match.index > from) pieces.push(text.slice(from, match.index));
    from = match.index + match[0].length;
    const [, put, value, free, word, fail, name, quality] = match;
    if (put !== undefined && value !== undefined) pieces.push({ put: namePiece(type, put, false), value: piecesOf(type, value) });
    else if (free !== undefined) pieces.push({ free: inputOf(type, free) });
    else if (word !== undefined) pieces.push(String(fixedText(word)));
    else if (fail !== undefined) pieces.push('err = 1');
    else if (name !== undefined) pieces.push(namePiece(type, name, quality !== undefined));
    else throw new Error(`the fragment of ${type.name} has ${match[0]}, which is no token`);
  }
  if (from < text.length) pieces.push(text.slice(from));
  return pieces;
}

function inputOf(type: BlockType, name: string): number {
  return type.inputs.findIndex((port) => port.name === name);
}

function namePiece(type: BlockType, name: string, quality: boolean): NamePiece {
  return {
    name,
    quality,
    input: inputOf(type, name),
    output: type.outputs.findIndex((port) => port.name === name),
    param: type.params.findIndex((param) => param.name === name),
  };
}
