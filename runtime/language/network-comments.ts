/**
 * What a printed network keeps in comments (decisions 4.7): name, description and scan interval before PROGRAM, the
 * comment of a block behind its call, and the name of a block that is no identifier behind its declaration.
 */
import type { Program } from './ast.js';
import { type Comment, Lexer } from './lexer.js';

/** Marks the further lines of a block comment of several lines. */
export const CONTINUATION = '> ';
/** Marks the real name of a block whose name cannot be written in structured text. */
export const NAME_MARK = 'name:';

export interface NetworkHeader {
  readonly name: string;
  readonly description: string;
  readonly scanInterval: string;
}

export function readHeader(header: readonly string[]): NetworkHeader {
  const rows = new Map<string, string>();
  for (const text of header) {
    const colon = text.indexOf(':');
    if (colon > 0) rows.set(text.slice(0, colon).trim().toLowerCase(), text.slice(colon + 1).trim());
  }
  return { name: rows.get('name') ?? '', description: rows.get('description') ?? '', scanInterval: rows.get('scaninterval') ?? '' };
}

/** Comments and real names of instances, by the name in the text in lower case. */
export function readComments(source: string, program: Program, comments: readonly Comment[]): { comments: Map<string, string>; names: Map<string, string> } {
  const found = { comments: new Map<string, string>(), names: new Map<string, string>() };
  if (comments.length === 0) return found;
  const trailing = new Map<number, Comment>();
  for (const comment of comments) if (!comment.ownLine && !trailing.has(comment.at.line)) trailing.set(comment.at.line, comment);
  const continued = new Map(comments.filter(({ ownLine, text, form }) => ownLine && form === '//' && text.startsWith(CONTINUATION)).map((comment) => [comment.at.line, comment]));
  for (const { name, at } of program.variables) {
    const comment = trailing.get(at.line);
    const text = comment?.form === '(*' ? comment.text.trim() : '';
    if (text.startsWith(NAME_MARK)) found.names.set(name.toLowerCase(), text.slice(NAME_MARK.length).trim());
  }
  const ends = lastCallOfLines(source, program);
  for (const [line, name] of ends) {
    const comment = trailing.get(line);
    if (comment?.form === '//') found.comments.set(name.toLowerCase(), commentText(comment, continued));
  }
  return found;
}

/** The call that ends last on each line, with the line of its semicolon. */
function lastCallOfLines(source: string, program: Program): Map<number, string> {
  const calls = program.body.filter((statement) => statement.kind === 'call').values();
  const ends = new Map<number, string>();
  let coming = calls.next().value;
  let current: string | null = null;
  const lexer = new Lexer(source);
  for (let { kind, text, at } = lexer.next(); kind !== 'end'; { kind, text, at } = lexer.next()) {
    if (at.line === coming?.at.line && at.column === coming.at.column) {
      current = coming.call.callee;
      coming = calls.next().value;
    }
    if (text === ';') {
      // another statement that ends later on the line owns the comment
      if (current === null) ends.delete(at.line);
      else ends.set(at.line, current);
      current = null;
    }
  }
  return ends;
}

function commentText(first: Comment, continued: ReadonlyMap<number, Comment>): string {
  const lines = [first.text.startsWith(' ') ? first.text.slice(1) : first.text];
  for (let line = first.at.line + 1; ; line += 1) {
    const next = continued.get(line);
    if (!next) return lines.join('\n');
    lines.push(next.text.slice(CONTINUATION.length));
  }
}
