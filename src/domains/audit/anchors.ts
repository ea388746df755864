/**
 * Ends of the audit trail, kept outside the box (ADR 0120): a disk that is set back as a whole holds a trail without a fault, and only what stands
 * elsewhere can contradict it. As often as the setting says and the trail has grown one signed line is added to a file of the folder, a share for
 * instance, sent to the receiver of syslog, and published at a broker.
 */
import { open } from 'node:fs/promises';
import path from 'node:path';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { guardedPromise } from '../../platform/base/guarded.js';
import { Refusal } from '../../platform/base/refusal.js';
import { noteStuck } from '../../platform/base/stuck-threads.js';
import type { AnchorsAgainst } from '../../platform/ledger/anchors-check.js';
import { anchorLine } from '../../platform/ledger/anchors.js';
import type { ChainEnd } from '../../platform/ledger/head-file.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import type { SigningKeys } from '../signatures/signature.js';
import type { AnchorsState } from './bodies.js';

export interface AnchorParts {
  /** Setting `audit.anchors.folder`; null: none are kept. */
  readonly folder: string | null;
  readonly intervalMs: number;
  readonly queries: Pick<LedgerQueries, 'newestAudit' | 'anchorsIn'>;
  readonly keys: Pick<SigningKeys, 'privateKey' | 'publicKey' | 'kid'>;
  readonly clock: Clock;
  /** Where each is sent to; absent: nowhere. */
  readonly sends?: ((line: string, end: ChainEnd) => void) | undefined;
}

const SILENT = 'the folder of the anchors does not answer (audit.anchors.folder)';
const NOT_KEPT =
  'no anchors are kept outside this box (audit.anchors.folder, audit.anchors.mqttTopic, audit.syslog.enabled): that its disk was set back to an earlier time would not be seen';
const SENT =
  'anchors are sent to the receiver of audit.syslog.address or the broker of audit.anchors.mqttTopic, and this box cannot read them there: that its disk was set back to an earlier time shows where lineside verify --anchors holds an export against them';

export class AuditAnchors {
  readonly #parts: AnchorParts;
  readonly #file: string | undefined;
  /** A share that does not answer is not asked a second time meanwhile. */
  #atWork: Promise<void> | undefined;
  #keptTo = 0;
  #sentTo = 0;
  #fault: string | undefined;
  /** Behind a start, or a write that failed, the file may end within a line. */
  #mayBeTorn = true;
  #checking: Promise<AnchorsAgainst> | undefined;
  /** A look at the folder has had no answer: it holds one of the few threads for files, and no other one is begun until the folder has answered. */
  #isSilent = false;
  #answers: () => void = () => undefined;

  constructor(parts: AnchorParts) {
    this.#parts = parts;
    this.#file = parts.folder === null ? undefined : path.join(parts.folder, `lineside-anchors-${parts.keys.kid}.ndjson`);
  }

  /** Why the last end could not be kept, for health; undefined when it was. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** @returns ends it. */
  start(): () => void {
    const { clock, intervalMs, sends } = this.#parts;
    if (this.#file === undefined && !sends) return () => undefined;
    let cancel = (): void => undefined;
    const turn = (): void => {
      guardedPromise('anchor of the audit trail', () => this.keep());
      cancel = clock.after(intervalMs, turn);
    };
    turn();
    return () => cancel();
  }

  /** Tells of the end of the trail, where it has grown: whatever becomes of sending it, the folder gets it. */
  async keep(): Promise<void> {
    try {
      await this.#send();
    } finally {
      await this.#write();
    }
  }

  async #write(): Promise<void> {
    if (this.#file === undefined) return;
    if (this.#atWork) {
      if (this.#fault !== SILENT) this.#answers = noteStuck('a write to the folder of the anchors');
      this.#fault = SILENT;
      this.#isSilent = true;
      return;
    }
    this.#atWork = this.#keep(this.#file).finally(() => {
      this.#atWork = undefined;
      this.#answers();
    });
    await this.#atWork;
  }

  /** Whether every end that was kept is one of this trail. */
  async check(): Promise<AnchorsState> {
    if (this.#file === undefined) return { configured: false, checked: 0, newest: null, problems: [], note: this.#parts.sends ? SENT : NOT_KEPT };
    if (this.#isSilent) return { configured: true, checked: 0, newest: null, problems: [], note: SILENT };
    try {
      this.#checking ??= this.#parts.queries.anchorsIn(this.#file).finally(() => (this.#checking = undefined));
      const against = await this.#checking;
      return { configured: true, ...against, problems: [...against.problems], note: against.newest ? '' : 'no anchor has been kept yet' };
    } catch (fault) {
      this.#isSilent = fault instanceof Refusal && fault.context.code === 'no_answer';
      return { configured: true, checked: 0, newest: null, problems: [], note: `the anchors cannot be read: ${(fault as Error).message}` };
    }
  }

  async #send(): Promise<void> {
    const { queries, sends } = this.#parts;
    const end = sends ? await queries.newestAudit() : null;
    if (!end || end.sequence === this.#sentTo) return;
    sends?.(this.#line(end), end);
    this.#sentTo = end.sequence;
  }

  #line(end: ChainEnd): string {
    const { keys, clock } = this.#parts;
    return anchorLine({ ...end, at: timestamp(clock.wallMs()), kid: keys.kid }, keys.privateKey);
  }

  async #keep(name: string): Promise<void> {
    const end = await this.#parts.queries.newestAudit();
    if (!end || end.sequence === this.#keptTo) return;
    try {
      const file = await open(name, 'a', 0o644);
      try {
        const { size } = await file.stat();
        const begin = this.#mayBeTorn && size > 0 ? '\n' : '';
        this.#mayBeTorn = true;
        await file.appendFile(begin + this.#line(end));
        await file.sync();
        this.#mayBeTorn = false;
      } finally {
        await file.close();
      }
      this.#keptTo = end.sequence;
      this.#fault = undefined;
      this.#isSilent = false;
    } catch (fault) {
      this.#fault = `the end of the audit trail cannot be kept outside (audit.anchors.folder): ${(fault as Error).message}`;
    }
  }
}
