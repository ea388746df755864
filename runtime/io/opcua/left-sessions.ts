/**
 * Sessions whose connection was lost. A server keeps each for its session time-out and takes only so many: a cable that is loose would lock its own module out. The
 * connection of that module ends them when the server takes no more (OPC 10000-4, 5.7.3 and 6.7). One list a thread, as a module is served by one.
 */
import type { ClientSession, UserIdentityInfo } from 'node-opcua-client';
import type { Clock } from '../../vocabulary/clock.js';

/** Of one module; the oldest are left to the server. */
const LEFT_MAX = 100;

export interface LeftSession {
  readonly session: ClientSession;
  /** Who had signed in. */
  readonly user: UserIdentityInfo;
}

export interface Left extends LeftSession {
  /** The server has forgotten it by then. */
  readonly untilMonoMs: number;
}

const lists = new Map<string, readonly Left[]>();

/** `whose`: module and server. */
export function leave(whose: string, left: LeftSession, keptMs: number, clock: Clock): void {
  const nowMs = clock.monoMs();
  for (const [key, list] of lists) if (list.every(({ untilMonoMs }) => untilMonoMs <= nowMs)) lists.delete(key);
  lists.set(whose, [...(lists.get(whose) ?? []), { ...left, untilMonoMs: nowMs + keptMs }].slice(-LEFT_MAX));
}

/** Hands out the oldest that the server still knows: whoever takes it ends it, or puts it back. */
export function nextLeft(whose: string, clock: Clock): Left | undefined {
  const nowMs = clock.monoMs();
  const [next, ...others] = (lists.get(whose) ?? []).filter(({ untilMonoMs }) => untilMonoMs > nowMs);
  if (others.length === 0) lists.delete(whose);
  else lists.set(whose, others);
  return next;
}

/** The connection was lost before it could be told whether the session has ended. */
export function putBack(whose: string, left: Left): void {
  lists.set(whose, [left, ...(lists.get(whose) ?? [])].slice(-LEFT_MAX));
}
