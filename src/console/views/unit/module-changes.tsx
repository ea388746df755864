/** Who changed what on a module last: the newest records of the audit trail that name it. */
import { readAudit } from '../../data/audit.js';
import { can } from '../../data/session.js';
import type { ModuleInfo } from '../../data/types.js';
import { addressOf } from '../../data/view.js';
import { ReadFault } from '../../common/fault.js';
import { t, word, words } from '../../common/strings.js';
import { momentText } from '../../common/text.js';
import { useLog } from '../../common/use-log.js';
import { deedOf } from '../audit/audit-words.js';

const said = words({
  en: { none: 'Nothing was changed on it yet.', notAllowed: 'You may not read the audit trail.' },
  de: { none: 'Daran wurde noch nichts geändert.', notAllowed: 'Sie dürfen das Protokoll nicht lesen.' },
});

const SHOWN_MAX = 20;

export function ModuleChanges({ module }: { readonly module: ModuleInfo }) {
  if (!can('audit:read')) return <p class="hint">{said.notAllowed}</p>;
  return <Changes module={module} />;
}

function Changes({ module }: { readonly module: ModuleInfo }) {
  const log = useLog((cursor) => readAudit({ category: '', result: '', name: module.name, from: '' }, cursor), [module.name], module.updatedAt);
  return (
    <div class="stack" data-testid="module-changes">
      <ReadFault text={log.fault} />
      {log.items.length === 0 && !log.busy && log.fault === '' && <p class="hint">{said.none}</p>}
      <ul class="lines">
        {log.items.slice(0, SHOWN_MAX).map((record) => (
          <li class="line line-stacked" key={record.name}>
            <span class="line-name">
              <strong>{deedOf(record)}</strong> {record.result !== 'Success' && word(record.result)} {record.operatorReason ?? record.reason ?? ''}
            </span>
            <span class="hint number">
              {momentText(record.timestamp)} {record.displayName}
            </span>
          </li>
        ))}
      </ul>
      <a class="button" href={addressOf('audit')}>
        {t.auditTrail}
      </a>
    </div>
  );
}
