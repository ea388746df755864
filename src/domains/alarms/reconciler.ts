/**
 * What an alarm needs beside its condition (contract 2, Alarm): the verdict on an acknowledgement, the end of a
 * shelf, and its own end some time after it was resolved.
 */
import type { Clock } from '../../platform/base/clock.js';
import { Deadline } from '../../platform/base/elapsed.js';
import type { Outcome, Reconciler } from '../../platform/reconcile/loop.js';
import { type AuditDraft, component } from '../../platform/store/audit-record.js';
import type { Store } from '../../platform/store/store.js';
import type { AlarmRegister } from './alarm-register.js';
import { shelfLeftMs, unshelved } from './counts.js';
import type { ExceptionCommands } from './exception-commands.js';
import { holdsOf } from '../legal-holds/holds.js';
import { Alarm, type PendingAcknowledgement, type AlarmResource } from './kind.js';
import { acknowledgeRule, alarmTransition, moved, resolvedAtMs } from './transitions.js';
import type { Key } from '../../platform/reconcile/key.js';

const CONTROLLER = component('alarm-controller');
/** A command waits for its judge some milliseconds; the next one asks for the place so often. */
const COMMAND_AGAIN_MS = 100;

export interface AlarmReconcilerParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly register: AlarmRegister;
  readonly exceptions: ExceptionCommands;
  /** Setting `alarms.resolvedRetention`. */
  readonly resolvedRetentionMs: number;
}

/** What a legal hold keeps is looked at again so soon after it was lifted. */
const HELD_LOOK_MS = 60_000;

export class AlarmReconciler implements Reconciler {
  readonly name = 'alarm';
  readonly #parts: AlarmReconcilerParts;
  /** How long each resolved alarm stays, by uid; its age is taken from the wall clock once, when it is first seen. */
  readonly #resolved = new Map<string, Deadline>();

  constructor(parts: AlarmReconcilerParts) {
    this.#parts = parts;
    parts.store.watch(Alarm, ({ type, resource }) => {
      if (type === 'remove') this.#resolved.delete(resource.metadata.uid);
    });
  }

  keys(): Iterable<Key> {
    return this.#parts.store.list(Alarm).map(({ metadata }) => metadata);
  }

  reconcile({ site, name }: Key): Outcome {
    const read = (): AlarmResource | undefined => this.#parts.store.get(Alarm, site, name);
    for (let alarm = read(); alarm?.status.acknowledging?.[0]; alarm = read()) this.#judge(alarm, alarm.status.acknowledging[0]);
    const isDue = this.#parts.exceptions.attempt(site, name);
    const alarm = read();
    if (!alarm) return 'settled';
    const shelfEnded = this.#endShelf(alarm);
    const outcome = shelfEnded === 'settled' ? this.#retire(alarm) : shelfEnded;
    return isDue ? { lookAgainMs: Math.min(COMMAND_AGAIN_MS, outcome === 'settled' ? COMMAND_AGAIN_MS : outcome.lookAgainMs) } : outcome;
  }

  /** The verdict record that follows the `Accepted` of the request (decisions Q-ALARM-04). */
  #judge({ metadata, spec, status }: AlarmResource, request: PendingAcknowledgement): void {
    const { register } = this.#parts;
    const { site, name } = metadata;
    const { acknowledging: [, ...waiting] = [], ...rest } = status;
    const left = waiting.length > 0 ? { ...rest, acknowledging: waiting } : rest;
    const transition = alarmTransition(status.state, 'acknowledge');
    const audit: AuditDraft = {
      site,
      actor: CONTROLLER,
      action: 'Acknowledge',
      category: 'alarm',
      target: { kind: Alarm.kind, name, site },
      result: transition ? 'Success' : 'Rejected',
      ...(transition ? {} : { rule: acknowledgeRule(status.state) }),
      details: { requestedBy: request.displayName, state: transition?.to ?? status.state, ...(request.comment ? { comment: request.comment } : {}) },
      correlationID: request.correlationID,
    };
    if (!transition) {
      register.write({ site, name, spec, status: left }, { audits: [audit] });
      return;
    }
    const next = { ...moved(left, transition, register.now()), acknowledgedBy: request.displayName };
    register.write({ site, name, spec, status: next, event: transition.event, by: request, comment: request.comment }, { audits: [audit] });
  }

  /** The end of a shelf by time equals unshelve (decisions Q-ALARM-02). */
  #endShelf({ metadata, spec, status }: AlarmResource): Outcome {
    const { register, store } = this.#parts;
    if (status.shelvedUntil === '') return 'settled';
    const leftMs = shelfLeftMs(status, store.terms);
    if (leftMs > 0) return { lookAgainMs: leftMs };
    const { site, name } = metadata;
    const audit: AuditDraft = {
      site,
      actor: CONTROLLER,
      action: 'Unshelve',
      category: 'alarm',
      target: { kind: Alarm.kind, name, site },
      result: 'Success',
      details: { shelvedUntil: status.shelvedUntil, shelvedBy: status.shelvedBy },
      correlationID: `shelf-${name}`,
    };
    register.write({ site, name, spec, status: unshelved(status), event: 'Unshelved' }, { audits: [audit] });
    return { lookAgainMs: 0 };
  }

  /** A resolved alarm stays readable for a time, then only in the history (decisions Q-ALARM-02). */
  #retire({ metadata, status }: AlarmResource): Outcome {
    const { store, clock, resolvedRetentionMs } = this.#parts;
    if (status.state !== 'ClearedAcknowledged') return 'settled';
    let kept = this.#resolved.get(metadata.uid);
    if (!kept) {
      const ageMs = Math.max(0, clock.wallMs() - resolvedAtMs(status, metadata.updatedAt));
      this.#resolved.set(metadata.uid, (kept = new Deadline(clock, resolvedRetentionMs - ageMs)));
    }
    if (!kept.hasPassed) return { lookAgainMs: kept.remainingMs };
    if (holdsOf(store, { kind: Alarm.kind, site: metadata.site, name: metadata.name }).length > 0) return { lookAgainMs: HELD_LOOK_MS };
    store.apply({ removes: [{ kind: Alarm.kind, site: metadata.site, name: metadata.name }] });
    return 'settled';
  }
}
