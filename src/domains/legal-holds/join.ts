/** Legal holds: from here on the store removes nothing that one of them keeps, and the historian forgets nothing of it. */
import type { WallMs } from '../../platform/base/times.js';
import { routeSet } from '../../platform/http/route.js';
import type { History } from '../../platform/history/history.js';
import type { HeldHistory } from '../../platform/history/words.js';
import type { Store } from '../../platform/store/store.js';
import { refuseHeld, standingHolds } from './holds.js';
import { LegalHold, type LegalHoldResource } from './kind.js';
import { type LegalHoldDeps, legalHoldRoutes } from './routes.js';

export interface LegalHoldParts extends LegalHoldDeps {
  readonly history: Pick<History, 'hold'> | undefined;
}

export function joinLegalHolds({ store, clock, history }: LegalHoldParts) {
  store.judgeBy((change) => refuseHeld(store, change));
  /** Lifted, and that is not on disk yet: until it is, what was held stays, for a start may find the hold standing. */
  const lifting = new Set<LegalHoldResource>();
  const tell = (): void => history?.hold([...heldHistory(store), ...[...lifting].flatMap(historyOf)]);
  tell();
  store.watchReload(tell); // a lift that was refused is taken back without a change
  store.watch(LegalHold, ({ before }, durable) => {
    const hold = before as LegalHoldResource | undefined;
    if (hold) lifting.add(hold);
    tell();
    const settled = (): void => {
      if (hold && lifting.delete(hold)) tell();
    };
    durable.then(settled, settled);
  });
  return { routes: [routeSet(legalHoldRoutes, { store, clock })] };
}

/** A hold that cannot be read keeps everything: what it was about is not known. */
export function heldHistory(store: Store): HeldHistory[] {
  const isUnread = store.faults.some(({ kind, kept }) => kind === LegalHold.kind && !kept);
  if (isUnread) return [{ site: '', units: [], fromMs: Number.MIN_SAFE_INTEGER, toMs: Number.MAX_SAFE_INTEGER }];
  return standingHolds(store).flatMap(historyOf);
}

function historyOf({ spec, status }: LegalHoldResource): HeldHistory[] {
  if (status.lifted) return [];
  return spec.spans.map(({ site, units, from, to }) => ({ site, units, fromMs: msOf(from, Number.MIN_SAFE_INTEGER), toMs: msOf(to, Number.MAX_SAFE_INTEGER) }));
}

function msOf(text: string, open: number): WallMs {
  return text === '' ? open : Date.parse(text);
}
