/** What the threads of a test plant do without: together a quarter of the processor time that the start of a whole plant takes. */

/**
 * Scan threads as a machine runs them that refuses real-time priority, which is asked for by a program for each. What is asked and
 * answered is tested once (domains/placement/realtime); kills, the torture and the smoke run with it.
 */
export const ORDINARY_PRIORITY = { LINESIDE_RUNTIME__REALTIME: 'false' };

/**
 * All units in one scan thread, as beyond the limit of threads on a large plant: for suites of the gateway and of its storage. What units
 * do in threads of their own the suites in plant/ see, and kills, the torture and the smoke.
 */
export const ONE_SCAN_THREAD = { LINESIDE_RUNTIME__MAXTHREADS: '1' };
