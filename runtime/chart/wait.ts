/**
 * A suspended call and its answer (decisions 2.6): a prompt, an external result, a request to the gateway, or time.
 * A prompt keeps its id over a restart; a request in flight does not survive one, because nobody knows what it did.
 */
import { type Told, told, withTold } from '../vocabulary/told.js';
import type { PromptWait, StepRecord, WaitRecord } from '../port.js';
import { COMMAND_TIMEOUT, COMMAND_WITHDRAWN } from '../vocabulary/service-rules.js';
import { decodeSlot, encodeSlot } from './codec.js';
import { Any, type Raw, toValue } from './value.js';

/** Wall ms until a request without result has failed (decisions 4.5). */
const REQUEST_LIMIT_MS = 30_000;
const MTP_COMMAND_LIMIT_MS = 10_000;
/** Least wall ms between two readings of an MTP state in a condition. Not shown in the contract. */
const POLL_MS = 1000;

const MTP_COMMAND = 'MTP_COMMAND';
const PROMPTS = new Set(['PROMPT', 'PROMPT_CHOICE', 'PROMPT_VALUE', 'AWAIT_RESULT']);
const TIMERS = new Set(['WAIT', 'WAITSECONDS']);
/** Read-only requests: repeating one does no harm. */
const POLLED = new Set(['MTP_STATE', 'MTP_COMMAND_ENABLED']);

export class Wait {
  readonly builtin: string;
  readonly prompt: PromptWait | null;
  /** Id of the request to the gateway; 0 for other waits. */
  requestId = 0;
  /** Plant ms left of WAIT, wall ms left of a request. */
  remainingMs: number;
  answered = false;
  value: Raw | Any | undefined;
  failure: { readonly rule: string; readonly message: string; readonly told?: Told } | null = null;
  /** Last good answer of a polled request in a condition. */
  last: Raw | Any | undefined;

  constructor(builtin: string, prompt: PromptWait | null, remainingMs: number = requestLimitMs(builtin)) {
    this.builtin = builtin;
    this.prompt = prompt;
    this.remainingMs = remainingMs;
  }

  get isTimer(): boolean {
    return TIMERS.has(this.builtin);
  }

  /** Drives a process module. */
  get commandsModule(): boolean {
    return this.builtin === MTP_COMMAND;
  }

  /** Its phase was held before the command went out: after Restart it is given anew. */
  get isWithdrawn(): boolean {
    return this.failure?.rule === COMMAND_WITHDRAWN;
  }

  get isPolled(): boolean {
    return POLLED.has(this.builtin);
  }

  /** Step timers count real time while such a wait is open (decisions 2.5). */
  get countsReal(): boolean {
    return !this.isTimer;
  }

  /** An effect outside that a restart of the process leaves open. */
  get inFlight(): boolean {
    return !PROMPTS.has(this.builtin) && !this.isTimer && !this.answered;
  }

  answer(value: Raw | Any): void {
    this.answered = true;
    this.value = value;
  }

  fail(rule: string, message: string, as?: Told): void {
    this.answered = true;
    this.failure = { rule, message, ...withTold(as) };
  }

  /** Lets time pass; true once the call has ended. */
  advance(plantMs: number, realMs: number): boolean {
    if (this.answered && this.isPolled) this.remainingMs -= realMs; // its answer grows old
    if (this.answered || PROMPTS.has(this.builtin)) return this.answered;
    this.remainingMs -= this.isTimer ? plantMs : realMs;
    if (this.remainingMs > 0) return false;
    if (this.isTimer) this.answer(true);
    else this.fail(this.commandsModule ? COMMAND_TIMEOUT : 'service-failed', `${this.builtin} had no answer in time`, told('call-unanswered', { call: this.builtin }));
    return true;
  }

  /** A polled answer is old enough to be asked for again. */
  get isStale(): boolean {
    return this.answered && this.remainingMs < requestLimitMs(this.builtin) - POLL_MS;
  }

  record(): WaitRecord {
    const value = this.value instanceof Any ? encodeSlot('ANY', this.value) : this.value === undefined ? undefined : toValue(this.value);
    return {
      ...(this.prompt ? { wait: this.prompt } : {}),
      suspension: { builtin: this.builtin, remainingMs: this.remainingMs, answered: this.answered, ...(this.failure ? { failure: this.failure } : {}) },
      ...(value !== undefined ? { answer: value } : {}),
    };
  }
}

function requestLimitMs(builtin: string): number {
  return builtin === MTP_COMMAND ? MTP_COMMAND_LIMIT_MS : REQUEST_LIMIT_MS;
}

export function restoreWait(saved: WaitRecord | StepRecord): Wait | null {
  const { suspension, answer } = saved;
  if (!suspension) return null;
  const wait = new Wait(suspension.builtin, saved.wait ?? null, suspension.remainingMs);
  wait.failure = suspension.failure ?? null;
  wait.answered = suspension.answered;
  if (answer === undefined || answer === null) return wait;
  wait.value = suspension.builtin === 'CALL_SERVICE' && typeof answer === 'string' ? decodeSlot('ANY', answer) : answer;
  return wait;
}
