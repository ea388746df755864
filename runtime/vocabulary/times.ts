/** The meanings of a number of milliseconds (D-C-07), as in src/platform/base/times.ts, which the runtime does not know. */

/** Wall time since the epoch: to be shown and stored. */
export type WallMs = number & { readonly timeOf?: 'wall' };
/** Monotonic time. */
export type MonoMs = number & { readonly timeOf?: 'mono' };
/** How long. */
export type DurationMs = number & { readonly timeOf?: 'span' };
