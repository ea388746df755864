/** The kinds of errors and the bounds of round trips, for whoever counts them and whoever shows them (ADR 0076). */

/**
 * `silent`: no answer within the time-out. `refused`: the device answered that it does not. `lost`: the connection was gone.
 * `malformed`: what came is no answer of the protocol, or no value.
 */
export const ERROR_KINDS = ['silent', 'refused', 'lost', 'malformed'] as const;

/** ms; a poll is counted at the first bound that it did not exceed. */
export const ROUND_TRIP_UP_TO_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] as const;
