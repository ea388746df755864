/**
 * The bound of every text in a spec, in one place (not in the contract; the page of conventions says it). A text without a
 * bound stands whole in every frame, message, record and history row that names it; a control character breaks whatever shows
 * or prints it.
 *
 * Asked of what somebody writes, not of what is read: a row that was stored before there was a bound stays as it is, and may be
 * written again with the same text.
 */
import { invalid, type Refusal, refuseAll } from '../base/refusal.js';

/** As long as the value of a STRING tag. */
const TEXT_LENGTH_MAX = 4096;
/** Programs, and what a driver reads itself: certificates, tables. */
const LONG_TEXT_LENGTH_MAX = 262_144;

/** Structured text, by the name of its member; and everything in these members. */
const LONG = /^(structuredText|condition|permissive)$|ST$/;
const LONG_INSIDE: readonly string[] = ['options', 'params', 'security', 'simulation'];
/** What people write in lines, and values of the plant. */
const LINES = /^(comment|defaultValue|description|initial|message|preset|value|[a-z]*Instructions|[a-z]*Notes)$/;

const CONTROL = /[\u0000-\u001f\u007f]/;
const CONTROL_BUT_LINES = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

/**
 * @param before the spec that is replaced. @param prefix of the path that the refusal names.
 * @throws Refusal `invalid_field` for a text that is too long or holds a control character.
 */
export function checkTexts(spec: unknown, before: unknown, prefix = ''): void {
  const refusals: Refusal[] = [];
  walk(spec, '', [], false, (text, member, at, isOpaque) => {
    if (text.length <= TEXT_LENGTH_MAX && !CONTROL.test(text)) return; // nearly all of them, whatever member they stand in
    const isLong = isOpaque || LONG.test(member);
    const lengthMax = isLong ? LONG_TEXT_LENGTH_MAX : TEXT_LENGTH_MAX;
    const isControlled = (isLong || LINES.test(member) ? CONTROL_BUT_LINES : CONTROL).test(text);
    if ((text.length <= lengthMax && !isControlled) || holds(before, text)) return;
    const path = pathOf(prefix, at);
    const wrong = isControlled ? 'must not have control characters' : `must have at most ${lengthMax} characters; it has ${text.length}`;
    refusals.push(invalid('invalid_field', path, `${path} ${wrong}`));
  });
  refuseAll(refusals);
}

/** `at`: members and places of lists on the way to the text; it goes on changing. */
type Look = (text: string, member: string, at: readonly (string | number)[], isOpaque: boolean) => void;

/** The elements of a list are judged as the member that holds it. */
function walk(value: unknown, member: string, at: (string | number)[], isOpaque: boolean, look: Look): void {
  if (typeof value === 'string') return look(value, member, at, isOpaque);
  if (typeof value !== 'object' || value === null) return;
  for (const [name, each] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    at.push(name);
    if (typeof name === 'number') walk(each, member, at, isOpaque, look);
    else walk(each, name, at, isOpaque || LONG_INSIDE.includes(name), look);
    at.pop();
  }
}

/** Only of a text that is refused: of some thousand channels their paths are longer than they are. */
function pathOf(prefix: string, at: readonly (string | number)[]): string {
  return at.reduce<string>((path, each) => {
    if (typeof each === 'number') return `${path}[${each}]`;
    return path === '' || path.endsWith('.') ? `${path}${each}` : `${path}.${each}`;
  }, prefix);
}

function holds(value: unknown, text: string): boolean {
  if (typeof value !== 'object' || value === null) return value === text;
  return Object.values(value).some((each) => holds(each, text));
}
