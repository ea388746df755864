/** What could not be sent: known over restarts, told in health, and on record once. */
import { randomUUID } from 'node:crypto';
import { type Clock, timestamp } from '../../../platform/base/clock.js';
import type { Log } from '../../../platform/base/log.js';
import type { Store } from '../../../platform/store/store.js';
import { component } from '../../../platform/store/audit-record.js';
import type { SyslogGap } from './position.js';

/** The newest ones; all of them are on record. */
const KEPT = 20;

interface Parts {
  readonly store: Pick<Store, 'accepting' | 'apply'>;
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly log: Log;
}

export class GapLog {
  readonly #parts: Parts;
  #gaps: readonly SyslogGap[] = [];

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get all(): readonly SyslogGap[] {
    return this.#gaps;
  }

  recall(gaps: readonly SyslogGap[]): void {
    this.#gaps = gaps;
  }

  knows(first: number): boolean {
    return this.#gaps.some((gap) => gap.first === first);
  }

  note({ first, last, why }: Pick<SyslogGap, 'first' | 'last' | 'why'>): void {
    if (this.#gaps.some((gap) => gap.first === first && gap.last === last)) return;
    this.#gaps = [...this.#gaps, { first, last, why, at: timestamp(this.#parts.clock.wallMs()) }].slice(-KEPT);
    this.#parts.log.error({ first, last, why }, 'audit records cannot be sent away');
    this.record('Gap', { first, last, why });
  }

  record(name: string, { first, last, why }: Pick<SyslogGap, 'first' | 'last' | 'why'>): void {
    const { store } = this.#parts;
    if (!store.accepting) return; // the receiver and the log are told
    store.apply({
      audits: [
        {
          site: '',
          actor: component('audit-syslog'),
          action: 'Execute',
          category: 'audit-syslog',
          target: { kind: 'AuditSyslog', name, site: '' },
          result: 'Failed',
          reason: why,
          details: { firstSequence: first, lastSequence: last },
          correlationID: randomUUID(),
        },
      ],
    });
  }
}
