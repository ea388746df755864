/**
 * A request through the barriers to its handler and back (design, The gateway). Refusals of admitted writes, and successes
 * that their handler did not record, are audited before the answer goes out (D-AUDIT-01, D-AUDIT-02).
 */
import { assert } from '../base/assert.js';
import type { Log } from '../base/log.js';
import { auditReason, Refusal } from '../base/refusal.js';
import type { AuditDraft } from '../store/audit-record.js';
import type { Release } from '../store/past-rows.js';
import type { Ref } from '../store/resource.js';
import { UwsReply, uwsReplyOfFault, uwsReplyOf, uwsReplyOfRefusal } from './uws-reply.js';
import type { Guard } from './barriers/barrier.js';
import { judgeAgain } from './barriers/body.js';
import { announcesBody, limitOf, tooLarge } from './barriers/body-form.js';
import { AFTER_PROOF, BEFORE_EXISTENCE, FROM_EXISTENCE } from './barriers/index.js';
import { Exchange, type Incoming } from './exchange.js';
import { namesTag } from './revision.js';
import { NO_HEADERS } from './route.js';
import { StreamReply } from './stream-port.js';

export type Outcome = UwsReply | StreamReply | Promise<UwsReply>;

/**
 * A request whose token was not seen before: it goes on once the signature of the token was looked at. `goOn` is called by the server in
 * a turn of its own choosing, so that a stream is opened in the turn in which it was counted, and nothing is done for a connection that has ended.
 */
export class Unproven {
  /** Never rejects. */
  readonly settled: Promise<void>;
  readonly #serve: (fault: unknown) => Outcome;
  #fault: unknown;

  constructor(proving: Promise<void>, serve: (fault: unknown) => Outcome) {
    this.#serve = serve;
    this.settled = proving.catch((fault: unknown) => {
      this.#fault = fault ?? new Error('the look at a signature failed without a reason');
    });
  }

  /** To be called once, when it has settled. Never throws. */
  goOn(): Outcome {
    return this.#serve(this.#fault);
  }
}

export class Pipeline {
  readonly #guard: Guard;
  readonly #log: Log;
  /** One for all requests: none is made for each. */
  readonly #judgeAgain = (exchange: Exchange): void => judgeAgain(exchange, this.#guard);

  constructor(guard: Guard, log: Log) {
    this.#guard = guard;
    this.#log = log;
  }

  get guard(): Guard {
    return this.#guard;
  }

  /** Never throws and never rejects: whatever goes wrong becomes an answer. */
  handle(incoming: Incoming, correlationID: string): Outcome | Unproven {
    const exchange = new Exchange(incoming, correlationID, this.#judgeAgain);
    try {
      for (const barrier of BEFORE_EXISTENCE) {
        const proving = barrier(exchange, this.#guard);
        if (proving) return new Unproven(proving, (fault) => this.#serveProven(exchange, fault));
      }
      return this.#serveAdmitted(exchange);
    } catch (fault) {
      return this.#refuse(exchange, fault);
    }
  }

  #serveAdmitted(exchange: Exchange): Outcome {
    const { past } = exchange.row.bound.row;
    return past && this.#guard.past ? this.#serveHeld(past(exchange.params, exchange.query), this.#guard.past, exchange) : this.#serve(exchange);
  }

  /** Who calls is judged in the turn in which the request goes on, by what is so then. */
  #serveProven(exchange: Exchange, unproven: unknown): Outcome {
    if (unproven !== undefined) return this.#refuse(exchange, unproven);
    try {
      for (const barrier of AFTER_PROOF) assert(!barrier(exchange, this.#guard), 'a signature is waited for once');
      return this.#serveAdmitted(exchange);
    } catch (fault) {
      return this.#refuse(exchange, fault);
    }
  }

  #serve(exchange: Exchange): UwsReply | StreamReply | Promise<UwsReply> {
    for (const barrier of FROM_EXISTENCE) {
      const wait = barrier(exchange, this.#guard);
      if (wait) return this.#serveAfter(wait, exchange);
    }
    const value = this.#handled(exchange);
    if (value instanceof Promise) return this.#settle(value, exchange);
    return this.#finish(exchange, value);
  }

  /** What it is about stays what it is, present or past, until the answer is made: a request waits for its body, for facts, for the disk. */
  #serveHeld(refs: readonly Ref[], past: NonNullable<Guard['past']>, exchange: Exchange): UwsReply | StreamReply | Promise<UwsReply> {
    const release = past.hold(refs);
    let answer: UwsReply | StreamReply | Promise<UwsReply> | undefined;
    try {
      const lent = past.borrow(refs);
      answer = lent ? this.#serveWith(lent, exchange) : this.#serve(exchange);
      return answer instanceof Promise ? answer.finally(release) : answer;
    } finally {
      if (!(answer instanceof Promise)) release();
    }
  }

  /** The rest of the order of evaluation is as ever, once what it looks at is there; it stays there until the answer is made. */
  async #serveWith(lent: Promise<Release>, exchange: Exchange): Promise<UwsReply> {
    const { row, incoming } = exchange;
    try {
      if (row.mutating && announcesBody(incoming.headers)) exchange.keepBody(limitOf(exchange, this.#guard), () => tooLarge(exchange, this.#guard));
    } catch (fault) {
      lent.then((release) => release()).catch(() => undefined); // nobody else waits for it
      return this.#refuse(exchange, fault);
    }
    let release: Release | undefined;
    try {
      release = await lent;
      judgeAgain(exchange, this.#guard);
      for (const barrier of FROM_EXISTENCE) await barrier(exchange, this.#guard);
      const answer = await this.#finish(exchange, await this.#handled(exchange));
      return expectAnswer(answer);
    } catch (fault) {
      return await this.#refuse(exchange, fault);
    } finally {
      exchange.atEnd?.();
      release?.();
    }
  }

  /** One function with its waits in it: a chain of promises for the same costs a tenth of a request. */
  async #serveAfter(wait: Promise<void>, exchange: Exchange): Promise<UwsReply> {
    try {
      await wait;
      const value = this.#handled(exchange);
      const answer = this.#finish(exchange, value instanceof Promise ? await value : value);
      return expectAnswer(answer instanceof Promise ? await answer : answer);
    } catch (fault) {
      return this.#refuse(exchange, fault);
    } finally {
      exchange.atEnd?.();
    }
  }

  async #settle(value: Promise<unknown>, exchange: Exchange): Promise<UwsReply> {
    try {
      const answer = this.#finish(exchange, await value);
      return expectAnswer(answer instanceof Promise ? await answer : answer);
    } catch (fault) {
      return this.#refuse(exchange, fault);
    }
  }

  #handled(exchange: Exchange): unknown {
    return exchange.row.bound.handle(exchange);
  }

  #finish(exchange: Exchange, value: unknown): UwsReply | StreamReply | Promise<UwsReply> {
    if (value instanceof StreamReply) return value;
    const answer = uwsReplyOf(value);
    if (!exchange.row.mutating) return unchanged(exchange, answer);
    if (exchange.audited) return answer;
    if (onlyComputes(exchange)) return this.#guard.store.recorded.then(() => answer); // its nonce is on disk first (D-NONCE-01)
    return this.#record(exchange, exchange.audit(exchange.isAbout)).then(() => answer);
  }

  #refuse(exchange: Exchange, fault: unknown): UwsReply | Promise<UwsReply> {
    if (!(fault instanceof Refusal)) {
      this.#log.error({ err: fault, correlationID: exchange.correlationID, method: exchange.incoming.method, path: exchange.incoming.path }, 'a request met a fault of ours');
    }
    const refusal = fault instanceof Refusal ? uwsReplyOfRefusal(fault) : uwsReplyOfFault();
    const answer = exchange.warning === undefined ? refusal : refusal.with({ 'X-Lineside-Warning': exchange.warning });
    if (!isAuditedRefusal(exchange, fault)) return answer;
    const result = fault instanceof Refusal ? 'Rejected' : 'Failed';
    const reason = auditReason(fault instanceof Refusal ? (fault.context.code ?? fault.kind.replaceAll('-', '_')) : 'internal');
    try {
      return this.#record(exchange, exchange.audit({ ...exchange.isAbout, result, reason }))
        .then(() => answer)
        .catch((refusal: unknown) => this.#refuseUnaudited(refusal));
    } catch (refusal) {
      return this.#refuseUnaudited(refusal);
    }
  }

  #record({ row }: Exchange, audit: AuditDraft): Promise<unknown> {
    const { store } = this.#guard;
    return row.bound.row.whileStorageRefuses
      ? store.writeOrKeep({ audits: [audit] }, { as: audit.result === 'Success' ? 'session' : 'refusal' })
      : store.write({ audits: [audit] });
  }

  /** The refusal could not be recorded: what the caller learns is that the storage is away. */
  #refuseUnaudited(refusal: unknown): UwsReply {
    return refusal instanceof Refusal ? uwsReplyOfRefusal(refusal) : uwsReplyOfFault();
  }
}

function onlyComputes({ row, body, query }: Exchange): boolean {
  const { computes } = row.bound.row;
  return typeof computes === 'function' ? computes(body, query) : computes === true;
}

/** D-AUDIT-02: everything after step 6, and site-scope and fence refusals of writes. */
function isAuditedRefusal(exchange: Exchange, fault: unknown): boolean {
  if (!exchange.row?.mutating || exchange.refusalAudited || onlyComputes(exchange)) return false;
  if (fault instanceof Refusal && fault.context.code === 'storage_unavailable') return false;
  if (exchange.admitted) return true;
  return fault instanceof Refusal && (fault.context.code === 'site_scope' || fault.context.code === 'api_key_fence');
}

function expectAnswer(value: UwsReply | StreamReply): UwsReply {
  assert(value instanceof UwsReply, 'a stream is opened in the turn of its request');
  return value;
}

/** `If-None-Match` on a GET of one resource gives 304 (decisions Q-ERR-14). */
function unchanged(exchange: Exchange, answer: UwsReply): UwsReply {
  if (exchange.row.bound.row.formats) answer = answer.with({ Vary: 'Accept' });
  if (exchange.warning !== undefined) answer = answer.with({ 'X-Lineside-Warning': exchange.warning });
  if (answer.headers === NO_HEADERS) return answer;
  const etag = answer.headers.ETag;
  if (etag === undefined || answer.status !== 200) return answer;
  const known = exchange.header('if-none-match');
  return known !== undefined && namesTag(known, etag) ? new UwsReply(304, undefined, answer.headers) : answer;
}
