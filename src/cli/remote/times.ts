/** Times as a person gives them on a command line. */
import { parseDuration } from '../../platform/base/duration-text.js';
import type { Box } from './box.js';
import { usage } from './outcome.js';

/** `8h` is 8 hours back from now, by the clock of the box; everything else is a time. @returns an instant of ISO 8601. */
export async function instantOf(box: Pick<Box, 'nowMs'>, text: string | undefined, option: string): Promise<string | undefined> {
  if (text === undefined) return undefined;
  const back = parseDuration(text);
  const atMs = back === null ? Date.parse(text) : (await box.nowMs()) - back;
  if (Number.isNaN(atMs)) throw usage(`${option} ${text}: give a duration back from now, such as 10m, or a time such as 2026-11-21T08:30:00Z`);
  return new Date(atMs).toISOString();
}
