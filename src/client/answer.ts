/**
 * The body of one answer, read to its end or to its bound. What answers may be broken, or another program than a box: of what it sends no more
 * bytes are read than the longest answer of a box has, and no more values are made than one of that length is of. A page of as many empty objects
 * takes some 0.3 GB of ours, and the worst that was found, one object of as many different names, some 1.4 GB.
 */
import { ApiError } from './api-error.js';

/** The longest page of a list: 500 resources of a large plant are some 20 MB. */
export const ANSWER_BYTES_MAX = 64 * 1024 ** 2;
/** Of a whole plant, a record, and of all pages of a list together. */
export const LONG_ANSWER_BYTES_MAX = 128 * 1024 ** 2;
/** All that is wrong with the manifests of one apply. */
const REFUSAL_BYTES_MAX = 16 * 1024 ** 2;
/** Of a value with its name and what stands around it: plants, records and lists have 20 and more. Three are enough for an object that takes 60. */
const BYTES_A_VALUE = 16;

/** @throws ApiError where an answer does not come, or not to its end. */
export async function whole<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (fault) {
    if (fault instanceof ApiError || isOfFile(fault)) throw fault;
    throw new ApiError(0, { error: 'no answer', code: 'no_answer', cause: causeOf(fault) });
  }
}

/** What an answer is written into, not what it comes by: a fault of the line has its call in `cause`. */
function isOfFile(fault: unknown): boolean {
  return (fault as { readonly syscall?: unknown }).syscall !== undefined;
}

/** Node says in `cause` why nobody could be reached. */
function causeOf(fault: unknown): string {
  const { name, message, cause } = fault as { readonly name?: string; readonly message?: string; readonly cause?: { readonly code?: string; readonly message?: string } };
  if (name === 'SyntaxError') return 'what came is no JSON, or was cut off';
  return name === 'TimeoutError' ? 'timeout' : (cause?.code ?? cause?.message ?? message ?? '');
}

/** @throws ApiError for an answer that is not 2xx, is longer than `bytesMax` or breaks off. */
export async function textOf(answer: Response, bytesMax: number): Promise<string> {
  if (!answer.ok) throw new ApiError(answer.status, await refusalOf(answer));
  return whole(() => bounded(answer, bytesMax));
}

/** As `textOf`, of JSON; undefined where the answer has no body. `characters`: of the text. */
export async function jsonOf<T>(answer: Response, bytesMax: number): Promise<{ readonly value: T; readonly characters: number }> {
  if (!answer.ok) throw new ApiError(answer.status, await refusalOf(answer));
  if (answer.status === 204 || answer.headers.get('Content-Length') === '0') return { value: undefined as T, characters: 0 };
  return whole(async () => {
    const text = await bounded(answer, bytesMax);
    checkValues(text, answer, bytesMax);
    return { value: JSON.parse(text) as T, characters: text.length };
  });
}

/** What a refusal says: what stands between may answer with a page of its own. */
export async function refusalOf(answer: Response): Promise<Readonly<Record<string, unknown>>> {
  try {
    const text = await bounded(answer, REFUSAL_BYTES_MAX);
    checkValues(text, answer, REFUSAL_BYTES_MAX);
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? (body as Readonly<Record<string, unknown>>) : { error: `HTTP ${answer.status}` };
  } catch (fault) {
    if (fault instanceof ApiError) throw fault;
    return { error: `HTTP ${answer.status}` };
  }
}

/** Unpacked: what a few packed bytes become is counted as well. */
async function bounded(answer: Response, bytesMax: number): Promise<string> {
  if (answer.body === null) return '';
  const chunks = answer.body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (let bytes = 0; ; ) {
    const { done, value } = await chunks.read();
    if (done) return text + decoder.decode();
    bytes += value.byteLength;
    text += decoder.decode(value, { stream: true });
    if (bytes <= bytesMax) continue;
    await chunks.cancel().catch(() => undefined);
    throw tooLong(answer, bytesMax);
  }
}

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];

/** Before it is parsed: commas and openings are counted, outside of texts. @throws ApiError for one of more values than a box tells. */
function checkValues(text: string, { url }: Response, bytesMax: number): void {
  const valuesMax = bytesMax / BYTES_A_VALUE;
  if (text.length / 2 <= valuesMax) return; // a value has a character, and one before it
  let values = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfText(text, at + 1);
    else if (code === COMMA || code === BRACKET || code === BRACE) values += 1;
  }
  if (values <= valuesMax) return;
  const error = `the answer of ${url} is of more than ${valuesMax} values and is not read further: no box answers so; is the address right?`;
  throw new ApiError(200, { error, code: 'answer_too_long', limitValues: valuesMax });
}

/** Where the quote stands that ends it; behind the end where there is none. */
function endOfText(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

/** Whatever its status was: neither another try nor a sign-in mends it. */
function tooLong({ url }: Response, bytesMax: number): ApiError {
  const error = `the answer of ${url} is longer than ${bytesMax / 1024 ** 2} MiB and is not read further: no box answers so; is the address right?`;
  return new ApiError(200, { error, code: 'answer_too_long', limitBytes: bytesMax });
}
