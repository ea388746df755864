/** What could not be sent: known over restarts, told in health and by an alarm, and on record once. What can be read again is sent, and is no gap any more. */
import { randomUUID } from 'node:crypto';
import { type Clock, timestamp } from '../../../platform/base/clock.js';
import type { Log } from '../../../platform/base/log.js';
import type { Store } from '../../../platform/store/store.js';
import { component } from '../../../platform/store/audit-record.js';
import type { Trouble } from '../../alarms/system-conditions.js';
import type { SyslogGap } from './position.js';

/** The newest ones; all of them are on record. */
const KEPT = 20;
/** Of a file that is damaged in so many places each is told once more now and then. */
const TOLD_MAX = 10_000;

interface Parts {
  readonly store: Pick<Store, 'accepting' | 'apply'>;
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly log: Log;
}

export class GapLog {
  readonly #parts: Parts;
  #gaps: readonly SyslogGap[] = [];
  /** Also of those that are not kept any more: what is sent again is no news. */
  readonly #told = new Set<string>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get all(): readonly SyslogGap[] {
    return this.#gaps;
  }

  recall(gaps: readonly SyslogGap[]): void {
    this.#gaps = gaps.slice(-KEPT);
    for (const gap of gaps) this.#told.add(keyOf(gap));
  }

  /** Whether one that begins so was told of: nobody waits for its records to be readable. */
  knows(first: number): boolean {
    return this.#gaps.some((gap) => gap.first === first);
  }

  note({ first, last, why }: Pick<SyslogGap, 'first' | 'last' | 'why'>): void {
    if (this.#told.has(keyOf({ first, last }))) return;
    if (this.#told.size >= TOLD_MAX) this.#told.clear();
    this.#told.add(keyOf({ first, last }));
    this.#gaps = [...this.#gaps, { first, last, why, at: timestamp(this.#parts.clock.wallMs()) }].slice(-KEPT);
    this.#parts.log.error({ first, last, why }, 'audit records cannot be sent away');
    this.record('Gap', { first, last, why });
  }

  /** Its records up to this one have been sent after all. */
  closed(gap: SyslogGap, upTo: number): void {
    this.#gaps = this.#gaps.flatMap((each) => (each !== gap ? [each] : upTo >= gap.last ? [] : [{ ...gap, first: upTo + 1 }]));
    this.#parts.log.info({ first: gap.first, last: Math.min(upTo, gap.last) }, 'audit records that could not be read were sent away');
  }

  trouble(): Trouble | undefined {
    const [gap] = this.#gaps;
    if (!gap) return undefined;
    const more = this.#gaps.length > 1 ? `, and ${this.#gaps.length - 1} more` : '';
    const message = `audit records ${gap.first} to ${gap.last} were not sent away: ${gap.why}${more}; put back what is missing, and they are sent`;
    return { severity: 'Medium', message };
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

function keyOf({ first, last }: Pick<SyslogGap, 'first' | 'last'>): string {
  return `${first}-${last}`;
}
