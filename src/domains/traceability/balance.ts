/** How much of a lot was received, and how much of it was given: the quantities of its entries, added up. Pure. */
import type { Relation } from './walk.js';

/** What scales can tell apart: a charge and a discharge are weighed on two of them, each within some tenths of a percent (ADR 0147). */
export const TOLERANCE = 0.005;

/** As many digits as a sum of readings can have; the noise of binary fractions lies beyond. */
const DIGITS = 12;

export interface Quantity {
  readonly material: string;
  readonly unit: string;
  readonly count: number;
  readonly sum: number;
  /** As it was recorded, where there is one alone. */
  readonly text: string;
}

export class Quantities {
  readonly #all: { -readonly [Member in keyof Quantity]: Quantity[Member] }[] = [];

  add(added: Quantity): void {
    const known = this.#all.find(({ material, unit }) => material === added.material && unit === added.unit);
    if (!known) return void this.#all.push({ ...added });
    known.count += added.count;
    known.sum += added.sum;
  }

  get isEmpty(): boolean {
    return this.#all.length === 0;
  }

  /** Several, in the order of their names, with commas between them. */
  get material(): string {
    return [...new Set(this.#all.map(({ material }) => material))].sort().join(', ');
  }

  /** Of one material in one unit; both '' where there are several, which nobody can add up. */
  get total(): { readonly quantity: string; readonly unit: string } {
    const [only, ...others] = this.#all;
    return only && others.length === 0 ? { quantity: textOf(only), unit: only.unit } : { quantity: '', unit: '' };
  }

  /** By unit, whatever it was called. */
  byUnit(): ReadonlyMap<string, number> {
    const sums = new Map<string, number>();
    for (const { unit, sum } of this.#all) sums.set(unit, (sums.get(unit) ?? 0) + sum);
    return sums;
  }
}

export interface Excess {
  readonly code: 'lot_gives_more_than_received';
  readonly lot: string;
  readonly received: string;
  readonly given: string;
  readonly unit: string;
}

/** Of a lot that was made here, in each unit in which it was. Nobody received what came from outside. */
export function excessOf(lot: string, { produced, consumed }: Readonly<Record<Relation, Quantities>>): readonly Excess[] {
  if (produced.isEmpty || consumed.isEmpty) return [];
  const given = consumed.byUnit();
  return [...produced.byUnit()].flatMap(([unit, received]) => {
    const gave = given.get(unit) ?? 0;
    if (plain(gave) <= plain(received * (1 + TOLERANCE))) return [];
    return [{ code: 'lot_gives_more_than_received' as const, lot, received: String(plain(received)), given: String(plain(gave)), unit }];
  });
}

function textOf({ count, sum, text }: Quantity): string {
  return count === 1 ? text : String(plain(sum));
}

function plain(sum: number): number {
  return Number(sum.toPrecision(DIGITS));
}
