/** Where the numbers of a unit's networks lie, plan after plan (arena.ts). */

/** The arrays of all networks of a unit (see compile.ts). */
export interface Memory {
  /** Signals and state, and their qualities under the same index. */
  readonly S: Float64Array;
  readonly Q: Uint8Array;
  /** Parameters and constants. */
  readonly P: Float64Array;
  /** Mark of the last scan in which a block failed. */
  readonly F: Int32Array;
  /** Delay lines and tables. */
  readonly X: Float64Array;
  /** Channel numbers of the I/O blocks. */
  readonly W: Int32Array;
  /** 1 where a tag write replaced the constant of a slot. */
  readonly written: Uint8Array;
  /** Place of the first word of `X` in the arena: `P` tells the functions where their words are there. */
  readonly auxFrom: number;
}
