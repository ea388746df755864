/**
 * Scan threads as a machine runs them that refuses real-time priority, as most do that run tests: to ask for it starts a program, a tenth of
 * what the start of a whole plant costs. What is asked and answered is tested once (domains/placement/realtime).
 */
export const ORDINARY_PRIORITY = { LINESIDE_RUNTIME__REALTIME: 'false' };
