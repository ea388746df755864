/**
 * Ends of the audit trail, kept outside the box (ADR 0120): a disk that is set back as a whole holds a trail without a fault, and only what stands
 * elsewhere can contradict it. One signed line is added to a file of the folder, a share for instance, as often as the setting says and the trail has grown.
 */
import { open } from 'node:fs/promises';
import path from 'node:path';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import { guardedPromise } from '../../platform/base/guarded.js';
import { type Anchor, anchorLine, anchorsOf } from '../../platform/ledger/anchors.js';
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import type { SigningKeys } from '../signatures/signature.js';
import type { AnchorsState } from './bodies.js';

export interface AnchorParts {
  /** Setting `audit.anchors.folder`; null: none are kept. */
  readonly folder: string | null;
  readonly intervalMs: number;
  readonly queries: Pick<LedgerQueries, 'newestAudit' | 'hashesOf'>;
  readonly keys: Pick<SigningKeys, 'privateKey' | 'publicKey' | 'kid'>;
  readonly clock: Clock;
}

const NOT_KEPT = 'no anchors are kept outside this box (audit.anchors.folder): that its disk was set back to an earlier time would not be seen';

export class AuditAnchors {
  readonly #parts: AnchorParts;
  readonly #file: string | undefined;
  /** A share that does not answer is not asked a second time meanwhile. */
  #atWork: Promise<void> | undefined;
  #keptTo = 0;
  #fault: string | undefined;

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
    if (this.#file === undefined) return () => undefined;
    const { clock, intervalMs } = this.#parts;
    let cancel = (): void => undefined;
    const turn = (): void => {
      guardedPromise('anchor of the audit trail', () => this.keep());
      cancel = clock.after(intervalMs, turn);
    };
    turn();
    return () => cancel();
  }

  /** Adds the end of the trail, where it has grown. */
  keep(): Promise<void> {
    if (this.#atWork) this.#fault = 'the folder of the anchors does not answer (audit.anchors.folder)';
    this.#atWork ??= this.#keep().finally(() => {
      this.#atWork = undefined;
    });
    return this.#atWork;
  }

  /** Whether every end that was kept is one of this trail. */
  async check(): Promise<AnchorsState> {
    if (this.#file === undefined) return { configured: false, checked: 0, newest: null, problems: [], note: NOT_KEPT };
    const { queries, keys } = this.#parts;
    const text = await endOf(this.#file).catch((fault: NodeJS.ErrnoException) => fault);
    if (typeof text !== 'string') return { configured: true, checked: 0, newest: null, problems: [], note: `the anchors cannot be read: ${text.message}` };
    const { anchors, strange } = anchorsOf(text, keys.publicKey);
    const end = (await queries.newestAudit())?.sequence ?? 0;
    const hashes = await queries.hashesOf(anchors.map(({ sequence }) => sequence));
    const problems = [
      ...(strange.length > 0 ? [`${strange.length} lines of the anchors are none, or were not signed by this box: somebody has changed the file`] : []),
      ...anchors.flatMap((anchor) => contradicted(anchor, end, hashes)),
    ];
    const newest = anchors.at(-1);
    const note = newest ? '' : 'no anchor has been kept yet';
    return { configured: true, checked: anchors.length, newest: newest ? { sequence: newest.sequence, at: newest.at } : null, problems, note };
  }

  async #keep(): Promise<void> {
    const { queries, keys, clock } = this.#parts;
    const end = await queries.newestAudit();
    if (!end || end.sequence === this.#keptTo) return;
    try {
      const file = await open(this.#file as string, 'a', 0o644);
      try {
        await file.appendFile(anchorLine({ ...end, at: timestamp(clock.wallMs()), kid: keys.kid }, keys.privateKey));
        await file.sync();
      } finally {
        await file.close();
      }
      this.#keptTo = end.sequence;
      this.#fault = undefined;
    } catch (fault) {
      this.#fault = `the end of the audit trail cannot be kept outside (audit.anchors.folder): ${(fault as Error).message}`;
    }
  }
}

/** Some thousand anchors, a week at ten minutes: the others were looked at when they were new, and the file grows for years. */
const LOOKED_AT_BYTES = 300_000;

/** From the first whole line on. */
async function endOf(name: string): Promise<string> {
  const file = await open(name, 'r');
  try {
    const { size } = await file.stat();
    const start = Math.max(0, size - LOOKED_AT_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
    const text = buffer.toString('utf8', 0, bytesRead);
    return start === 0 ? text : text.slice(text.indexOf('\n') + 1);
  } finally {
    await file.close();
  }
}

/** What is not in the table any more was looked at before it was archived, and the chain goes through it. */
function contradicted({ sequence, hash, at }: Anchor, end: number, hashes: ReadonlyMap<number, string>): string[] {
  if (sequence > end) return [`record ${sequence} was anchored ${at}, and the trail ends with record ${end}: this box was set back to an earlier time`];
  const found = hashes.get(sequence);
  return found === undefined || found === hash
    ? []
    : [`record ${sequence} was anchored ${at} with another content: this box was set back to an earlier time and went on from there`];
}
