/**
 * Scan threads as a machine runs them that refuses real-time priority: to ask for it starts a program for each, a tenth of what the start of
 * a whole plant costs. What is asked and answered is tested once (domains/placement/realtime); kills, the torture and the smoke run with it.
 */
export const ORDINARY_PRIORITY = { LINESIDE_RUNTIME__REALTIME: 'false' };
