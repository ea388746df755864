/**
 * What is there instead of what is expected, and how to write it: `5`, `"5"`, `yes` and `on` look alike to whoever writes a file, and not to
 * whoever reads it.
 */
import { nearest } from '../base/nearest.js';

interface Unexpected {
  readonly expected: string | null;
  readonly input: unknown;
  readonly path?: readonly { readonly key: unknown }[] | undefined;
}

/** What such a member holds is told to nobody. */
const SECRET = /pass|secret|token|code|credential|key/i;
const SHOWN_CHARACTERS_MAX = 40;
const TRUTH: Readonly<Record<string, boolean>> = { true: true, yes: true, on: true, y: true, false: false, no: false, off: false, n: false };
const NUMBER = /^[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?$/;

/** `allowed`: the words that are taken there. @returns what follows the sentence of the refusal; '' where there is nothing to say. */
export function whatStands(
  { expected, input, path = [] }: Unexpected,
  { allowed = [], isDuration = false }: { readonly allowed?: readonly string[] | undefined; readonly isDuration?: boolean } = {},
): string {
  if (path.some(({ key }) => SECRET.test(String(key)))) return '';
  if (input === null) return '; nothing stands there: leave the field out, or give it a value';
  if (Array.isArray(input)) return '; a list stands there';
  if (typeof input === 'object') return expected === 'Array' ? '; an object stands there: write its entries as a list' : '; an object stands there';
  if (allowed.length > 0) return asWord(input, allowed);
  const way = isDuration && typeof input === 'number' ? `its unit too, such as "${input}ms" or "${input}s"` : wayOf(expected, input);
  return `; ${shown(input)} is ${typeof input === 'string' ? 'a text' : typeof input === 'number' ? 'a number' : 'true or false'}${way === '' ? '' : `: write ${way}`}`;
}

function wayOf(expected: string | null, input: unknown): string {
  if (expected === 'string') return `${JSON.stringify(String(input))}, in quotes`;
  if (typeof input !== 'string') return expected === 'boolean' && (input === 0 || input === 1) ? String(input === 1) : '';
  const text = input.trim();
  if (expected === 'number' && NUMBER.test(text)) return `${String(Number(text.replace(',', '.')))}, without quotes`;
  const truth = Object.hasOwn(TRUTH, text.toLowerCase()) ? TRUTH[text.toLowerCase()] : undefined;
  return expected === 'boolean' && truth !== undefined ? `${String(truth)}, without quotes` : '';
}

/** Words are compared letter by letter. */
function asWord(input: unknown, allowed: readonly string[]): string {
  if (typeof input !== 'string') return `; ${shown(input)} is no text`;
  const near = nearest(
    input,
    allowed.filter((word) => word !== ''),
  );
  return `; ${shown(input)} is none of them${near === undefined ? '' : `, the nearest is ${near}`}`;
}

function shown(input: unknown): string {
  const text = JSON.stringify(input) ?? typeof input;
  return text.length > SHOWN_CHARACTERS_MAX ? `${text.slice(0, SHOWN_CHARACTERS_MAX)}…` : text;
}
