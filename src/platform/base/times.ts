/**
 * The three meanings of a number of milliseconds (D-C-07). Where one is meant the compiler does not take another, and takes a bare
 * number for any: a time is given its meaning where it enters, and arithmetic is a number again.
 */

/** Wall time since the epoch: for people and records, never to be reckoned with. */
export type WallMs = number & { readonly timeOf?: 'wall' };
/** Monotonic time: for whatever has to pass. */
export type MonoMs = number & { readonly timeOf?: 'mono' };
/** How long. */
export type DurationMs = number & { readonly timeOf?: 'span' };
