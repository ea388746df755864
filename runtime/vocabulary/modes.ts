/** Equipment and procedural modes (contract 2, Equipment mode). An unset mode reads as Automatic. */
export const MODES = ['Automatic', 'Semi-Automatic', 'Manual'] as const;
export type Mode = (typeof MODES)[number];
