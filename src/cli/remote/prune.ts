/** What --prune removes: after the apply, one by one, each as it was read. */
import { ApiError } from '../../client/api.js';
import type { Selector } from '../../platform/store/selector.js';
import { onlyAsRead, type ReadOne, readOne } from './as-read.js';
import { type Applied, type Named, namedOf, titleOf, toldOf } from './applied.js';
import type { Box } from './box.js';
import { familyOf } from './families.js';
import { CommandError, EXIT, failureOf } from './outcome.js';
import { addressOfOne } from './resources.js';

/** What is refused of a prune, before anything is removed. */
export function wouldStay(kept: readonly Stale[], lines: readonly string[], data: object): CommandError {
  const [{ status, code = '' } = { status: 0 }] = kept[0]?.refused ?? [];
  const left = kept.map((each) => ({ ...namedOf(each), refused: each.refused }));
  return new CommandError(status === 403 ? EXIT.forbidden : EXIT.refused, code, lines.join('\n'), { status, ...data, left });
}

/** With the address that removes it; '' where there is none. */
export interface Stale extends Named {
  readonly address: string;
  readonly warnings: readonly string[];
  /** Why the box would not remove it, as it was when it was asked. */
  readonly refused: Applied['refused'];
  /** As it was when the labels were judged; undefined where nothing is read there. */
  readonly read?: ReadOne | undefined;
}

/** Those that carry the label still, each as it is now. */
export async function asRead(box: Box, chosen: Selector, stale: readonly Stale[]): Promise<readonly Stale[]> {
  const read: Stale[] = [];
  for (const each of stale) read.push({ ...each, read: await readOne(box, each.address) });
  return read.filter((each) => each.read?.written.labels === undefined || chosen.matches(each.read.written.labels));
}

/** @throws ApiError 412 where somebody has written it since it was read. */
function removeAsRead(box: Box, { address, read }: Stale): Promise<void> {
  return onlyAsRead(box, address, read, (ifMatch) => box.api.remove(address, undefined, { ifMatch }));
}

const NO_ROUTE = 'no_such_route';
const isOdd = ({ refused = [] }: { readonly refused?: Applied['refused'] | undefined }): boolean => refused.some(({ code }) => code === NO_ROUTE);

/** @throws CommandError before anything is changed. */
export function refuseOdd(stale: readonly Stale[]): void {
  const odd = stale.find(isOdd);
  if (odd) throw new CommandError(EXIT.refused, NO_ROUTE, `${titleOf(odd)} carries the label, and ${odd.refused?.[0]?.error ?? ''}; nothing was changed`, namedOf(odd));
}

/** The words around what would stay. */
export interface WhyKept {
  readonly first: string;
  readonly last: string;
}

/** The box has judged the removals by the plant that the apply leaves behind: what it would refuse then, no apply helps. @throws CommandError before anything is changed. */
export function refuseKept(stale: readonly Stale[], { first, last }: WhyKept): void {
  const kept = stale.filter(({ refused = [] }) => refused.length > 0);
  if (kept.length === 0) return;
  throw wouldStay(kept, [first, ...kept.map(keptLine), last], { manifests: [], removed: [] });
}

export function keptLine(kept: Stale): string {
  return `would not be removed  ${toldOf(kept, (kept.refused ?? []).map(({ error }) => error).join('; '))}`;
}

export function staleOf({ kind, namespace, name, warnings, refused }: Applied): Stale {
  const address = isOdd({ refused }) ? '' : addressOfOne(familyOf(kind), namespace.replace(/^site-/, ''), name);
  return { kind, namespace, name, warnings, refused, address };
}

/** One after the other, and again while one went that another may have waited for. @throws CommandError that tells what was applied, what is gone and what is left, each with why. */
export async function removeAll(box: Box, stale: readonly Stale[], done: readonly Applied[]): Promise<readonly Named[]> {
  const removed: Named[] = [];
  let left = stale.map((one) => ({ one, fault: undefined as unknown }));
  for (let before = stale.length + 1; left.length > 0 && left.length < before; ) {
    before = left.length;
    const again: typeof left = [];
    for (const { one } of left) {
      const fault = await faultOf(() => removeAsRead(box, one));
      if (fault === undefined) removed.push(namedOf(one));
      else again.push({ one, fault });
      if (fault !== undefined && (!(fault instanceof ApiError) || fault.status === 0))
        throw notRemoved(box, [...again, ...left.slice(left.findIndex((each) => each.one === one) + 1)], removed, done);
    }
    left = again;
  }
  if (left.length > 0) throw notRemoved(box, left, removed, done);
  return removed;
}

async function faultOf(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work();
    return undefined;
  } catch (fault) {
    return fault;
  }
}

function notRemoved(box: Box, left: readonly { readonly one: Stale; readonly fault: unknown }[], removed: readonly Named[], done: readonly Applied[]): CommandError {
  const failures = left.map(({ one, fault }) => ({ title: titleOf(one), failure: fault === undefined ? undefined : failureOf(fault, box.url) }));
  const [first] = failures;
  const { exitCode = EXIT.no, told } = first?.failure ?? {};
  const { message: _message, code = '', ...more } = told ?? {};
  const text = [
    `applied, and then ${first?.title ?? ''} is not removed: ${first?.failure?.message ?? ''}`,
    ...removed.map((each) => `  removed  ${titleOf(each)}`),
    ...failures.map(({ title, failure }, at) => `  not removed  ${title}${at === 0 || failure === undefined ? '' : `: ${failure.message}`}`),
  ];
  return new CommandError(exitCode, code, text.join('\n'), { ...more, manifests: done, removed, left: left.map(({ one }) => namedOf(one)) });
}
