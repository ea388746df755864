/**
 * Where in its device a channel address stands (ADR 0085): two addresses that have a cell in common are one place, or overlap. A list of cells and
 * no text, because a register of a number of 64 bits, a bit of a word and an element of an array are places in one another. Pure.
 */

export interface Cell {
  readonly cell: string;
  /** '' : all of the cell. Two that cover different parts of one cell overlap, two that say the same part are told apart by another cell. */
  readonly part: string;
}

export const whole = (cell: string): Cell => ({ cell, part: '' });

/** A part of a cell, of which another cell says which. */
export const within = (cell: string, part = 'within'): Cell => ({ cell, part });

/** Of two that name the same cell. */
export function isShared(a: Pick<Cell, 'part'>, b: Pick<Cell, 'part'>): boolean {
  return a.part !== b.part || a.part === '';
}
