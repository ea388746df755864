/**
 * What is written down once, however often it has to be sent: no answer says nothing of whether it was recorded. Who sends the same again has it looked
 * for first, and the same nonce (contract 1, Anti-replay) keeps one from being recorded twice that is on its way yet.
 */
import { nonce } from '../../client/nonce.js';
import { ApiError, OUTCOME_UNKNOWN, type RequestOptions } from './api.js';
import { boxNowMs } from './box-clock.js';

/** Before the first attempt: the page knows the time of the box to less than that. */
const DOUBT_MS = 5000;

export class Once {
  /** What was sent and not answered, with which nonce, and since when; '' where nothing was. */
  #sent = '';
  #nonce = '';
  #sinceMs = 0;

  /** @param isThere whether it is recorded as this person's, since this time of the box. */
  async send(what: object, write: (options: RequestOptions) => Promise<unknown>, isThere: (sinceMs: number) => Promise<boolean>): Promise<void> {
    const text = JSON.stringify(what);
    if (text === this.#sent && (await isThere(this.#sinceMs))) return;
    if (text !== this.#sent) this.#begin(text);
    try {
      await write({ nonce: this.#nonce });
    } catch (fault) {
      if (fault instanceof ApiError && fault.code === OUTCOME_UNKNOWN) throw fault;
      if (!isDuplicate(fault)) {
        this.#sent = '';
        throw fault;
      }
      if (await isThere(this.#sinceMs)) return;
      this.#begin(text); // it had arrived, and was refused
      await write({ nonce: this.#nonce });
    }
  }

  #begin(text: string): void {
    this.#sent = text;
    this.#nonce = nonce();
    this.#sinceMs = boxNowMs() - DOUBT_MS;
  }
}

/** D-NONCE-02: its body has no code. */
function isDuplicate(fault: unknown): boolean {
  return fault instanceof ApiError && fault.status === 409 && fault.code === '';
}
