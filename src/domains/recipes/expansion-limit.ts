/**
 * How large a recipe may be, with all that its templates hold. Templates hold templates three levels deep, so that a short document stands for
 * millions of steps; each would be an element of the batch, with a state of its own on the disk.
 */

/** Steps of all levels. The largest procedures that are run have some hundred phases. */
export const STEPS_MAX = 20_000;

export const TOO_LARGE = `the procedure has more than ${STEPS_MAX} steps with all that its templates hold, and no batch is made of it: use fewer steps, or divide it into several recipes; what is told of it is told of the first ${STEPS_MAX}`;
