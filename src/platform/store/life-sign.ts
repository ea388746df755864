/**
 * Signs of life that outlive a restart: what is written while a plant runs keeps where time stood when it was taken, so that the
 * next start can say how long nobody was there (D-C-07, D-C-08). Which of several is the newest is told by the order of writing
 * and never by the wall clock, which may have been set between two runs.
 */
import type { WallMs } from '../base/times.js';
import type { Moment } from '../base/moment.js';
import type { Store } from './store.js';

export interface LifeSign extends Moment {
  /** `resourceVersion` of the store before it was written: rises over all runs. */
  readonly version: number;
}

export function lifeSign(store: Pick<Store, 'terms' | 'resourceVersion'>, moment: Moment = store.terms.now()): LifeSign {
  return { ...moment, version: store.resourceVersion };
}

/** What 0.1.0 has left: a time of its wall clock, with the version of the row that holds it. */
export function wallSign(wallMs: WallMs, version: number): LifeSign {
  return { wallMs, bootID: '', bootMs: 0, version };
}

/** One that was read back; undefined when it is none. */
export function readSign(kept: unknown): LifeSign | undefined {
  const { wallMs, bootID, bootMs, version } = (kept ?? {}) as Partial<LifeSign>;
  const isSign = typeof bootID === 'string' && [wallMs, bootMs, version].every((number) => typeof number === 'number' && Number.isFinite(number));
  return isSign ? (kept as LifeSign) : undefined;
}

/** One that says where time stood is of this release, so it is newer than any that does not. */
export function newestSign(signs: readonly (LifeSign | undefined)[]): LifeSign | undefined {
  const known = signs.filter((sign) => sign !== undefined);
  const measured = known.filter(({ bootID }) => bootID !== '');
  const [first, ...others] = measured.length > 0 ? measured : known;
  return first && others.reduce((newest, sign) => (sign.version > newest.version ? sign : newest), first);
}
