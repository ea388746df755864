/**
 * What a device says of itself and of the channels that are configured for it (decisions Q-TIER-11, rules IO-07, IO-21).
 * A link may ask its device (`Link.discover`); of one that cannot, each configured address is read once.
 */
import type { ProbeChannel, ProbeModule } from '../port.js';
import type { Clock } from '../vocabulary/clock.js';
import { inside } from '../vocabulary/assert.js';
import { type DiscoveredChannel, type Discovery, NO_IDENTITY } from './device-answers.js';
import type { Link, Point, SampleSink } from './driver.js';

export type DiscoverReply = { readonly ok: true; readonly message: string; readonly discovery: Discovery } | { readonly ok: false; readonly message: string };

export function notDiscovered(message: string): DiscoverReply {
  return { ok: false, message };
}

/**
 * Reads each configured address and readback once.
 * @throws Error with a sentence for the operator when the device does not answer at all.
 */
export async function checkChannels(link: Link, channels: readonly ProbeChannel[]): Promise<readonly DiscoveredChannel[]> {
  const points: Point[] = channels.flatMap(({ address, readbackAddress, dataType }) => [
    { address, dataType },
    ...(readbackAddress === '' ? [] : [{ address: readbackAddress, dataType }]),
  ]);
  const problems = await problemsOf(link, points);
  const next = problems.values();
  const taken = (): string => next.next().value ?? 'it was not read';
  return channels.map(({ name, address, readbackAddress }) => {
    const message = taken();
    const readback = readbackAddress === '' ? undefined : taken();
    const found = { channel: name, address, isFound: message === '' };
    if (readback === undefined) return { ...found, message };
    return { ...found, isReadbackFound: readback === '', message: message || (readback && `its readback ${readbackAddress}: ${readback}`) };
  });
}

/** By point: why there is no value; empty where there is one. */
async function problemsOf(link: Link, points: readonly Point[]): Promise<readonly string[]> {
  const problems = points.map(() => 'it was not read');
  const put = (position: number, message: string): void => {
    inside(problems, position, 'a driver delivers the points it was asked for');
    problems[position] = message;
  };
  const good = (position: number): void => put(position, '');
  const sink: SampleSink = { begin: () => {}, number: good, integer: good, text: good, bad: put, end: () => {} };
  if (points.length === 0) return problems;
  const outcome = await link.read(points, sink);
  if (outcome.status !== 'answered') throw new Error(outcome.message);
  return problems;
}

/** Asks the device behind a link, for at most `timeoutMs`. */
export async function discoverOver(link: Link, { module, channels }: ProbeModule, clock: Clock, timeoutMs: number): Promise<DiscoverReply> {
  const asked =
    link.discover?.(channels, timeoutMs) ?? checkChannels(link, channels).then((found): Discovery => ({ device: NO_IDENTITY, channels: found, offered: [], isTruncated: false }));
  let cancel: () => void = () => {};
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(timeoutMs, () => reject(new Error(`the device of module ${module} was not looked through within ${timeoutMs} ms`)));
  });
  try {
    return { ok: true, message: '', discovery: await Promise.race([asked, late]) };
  } catch (error) {
    return notDiscovered(error instanceof Error ? error.message : String(error));
  } finally {
    cancel();
    asked.catch(() => undefined); // what comes late is heard by nobody
  }
}
