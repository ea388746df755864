/** What a driver has done to this box itself, as the identity that it shows to servers: in the log, and on record. */
import { randomUUID } from 'node:crypto';
import type { BoxNotice } from '../../../runtime/port.js';
import { guardedPromise } from '../../platform/base/guarded.js';
import type { Log } from '../../platform/base/log.js';
import { component } from '../../platform/store/audit-record.js';
import type { Store } from '../../platform/store/store.js';

const PROBE = component('io-probe');

/** What cannot be stored now is kept and stored afterwards. */
export function noticeKeeper({ store, log }: { readonly store: Store; readonly log: Log }): (notice: BoxNotice) => void {
  return ({ action, sha256, message }) => {
    log.warn({ sha256 }, message);
    const audit = {
      site: '',
      actor: PROBE,
      action,
      category: 'client-identity',
      target: { kind: 'Device', name: 'client-identity', site: '' },
      result: 'Success',
      details: { message, ...(sha256 === '' ? {} : { sha256 }) },
      correlationID: randomUUID(),
    } as const;
    guardedPromise('record of a notice', () => store.writeOrKeep({ audits: [audit] }, { as: 'session' }));
  };
}
