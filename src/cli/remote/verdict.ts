/** What comes of a command that is on record: the box judges it in its own time, and what it has said before is no answer to it. */
import { setTimeout as pause } from 'node:timers/promises';
import { isPassing } from '../../client/passing.js';

/** The box answers when a command is on record, and judges it some moments later. */
const JUDGED_MS_MAX = 5000;
const LOOK_AGAIN_MS = 200;

export interface Rejection {
  readonly command: string;
  readonly correlationID: string;
  readonly rule: string;
  readonly message: string;
}

export interface Judging<Body> {
  readonly command: string;
  /** As it was before the command. */
  readonly before: Body;
  readonly read: () => Promise<Body>;
  /** It has followed. */
  readonly isDone: (now: Body) => boolean;
  /** What whoever asked is told. */
  readonly refusal: (now: Body, rejection: Rejection) => Error | Promise<Error>;
}

/** @returns undefined where the box has not judged in time. @throws `refusal` where it says no. */
export async function verdict<Body extends { readonly commandRejection?: Rejection | undefined }>(judging: Judging<Body>): Promise<Body | undefined> {
  const { command, before, read, isDone, refusal } = judging;
  const begun = performance.now();
  const known = before.commandRejection?.correlationID;
  for (;;) {
    const now = await read().catch((fault: unknown) => {
      if (isPassing(fault)) return before; // it is on record: the next look tells
      throw fault;
    });
    const { commandRejection: rejection } = now;
    if (rejection && rejection.correlationID !== known && rejection.command === command) throw await refusal(now, rejection);
    if (isDone(now)) return now;
    if (performance.now() - begun > JUDGED_MS_MAX) return undefined;
    await pause(LOOK_AGAIN_MS);
  }
}
