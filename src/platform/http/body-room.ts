/**
 * Room for long bodies: each is held whole until its request is answered, so that all of them together have a bound. What is no longer
 * than any other body needs none.
 */
import { Refusal } from '../base/refusal.js';

const SHORT_BYTES = 1024 ** 2;
const ROOM_BYTES = 64 * 1024 ** 2;
/** Of one caller: two of the longest, so that nobody takes the room of the others. */
const CALLER_BYTES_MAX = 32 * 1024 ** 2;

export class BodyRoom {
  #taken = 0;
  readonly #byCaller = new Map<string, number>();

  /**
   * @param bytes what the body is announced with, or the most that it may have.
   * @returns gives the room back.
   * @throws Refusal 503 `bodies_busy`.
   */
  take(caller: string, bytes: number): () => void {
    if (bytes <= SHORT_BYTES) return () => undefined;
    const own = this.#byCaller.get(caller) ?? 0;
    const isOwn = own + bytes > CALLER_BYTES_MAX;
    if (isOwn || this.#taken + bytes > ROOM_BYTES)
      throw new Refusal('unavailable', `${isOwn ? 'other long bodies of yours are' : 'other long bodies are'} being worked on; nothing was changed: try again in a moment`, {
        code: 'bodies_busy',
      });
    this.#set(caller, own + bytes);
    this.#taken += bytes;
    let isGiven = false;
    return () => {
      if (isGiven) return;
      isGiven = true;
      this.#taken -= bytes;
      this.#set(caller, (this.#byCaller.get(caller) ?? 0) - bytes);
    };
  }

  #set(caller: string, bytes: number): void {
    if (bytes === 0) this.#byCaller.delete(caller);
    else this.#byCaller.set(caller, bytes);
  }
}
