/** Who changed what on a module last: the newest records of the audit trail that name it or one of its values. */
import { readChangesOf } from '../../data/audit.js';
import { can } from '../../data/session.js';
import { tagValue } from '../../data/plant.js';
import type { ModuleInfo, TagDescriptor } from '../../data/types.js';
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

interface ChangesProps {
  readonly module: ModuleInfo;
  readonly tags: readonly TagDescriptor[];
}

export function ModuleChanges(props: ChangesProps) {
  if (!can('audit:read')) return <p class="hint">{said.notAllowed}</p>;
  return <Changes {...props} />;
}

function Changes({ module, tags }: ChangesProps) {
  const written = tags.filter(({ accessLevel }) => accessLevel === 'readwrite');
  const values = written.map(({ unit, address }) => String(tagValue(unit, address).value.value)).join();
  const log = useLog(
    () =>
      readChangesOf(
        module.name,
        written.map(({ address }) => address),
      ),
    [module.name],
    `${module.updatedAt} ${values}`,
  );
  return (
    <div class="stack" data-testid="module-changes">
      <ReadFault text={log.fault} />
      {log.items.length === 0 && !log.busy && log.fault === '' && <p class="hint">{said.none}</p>}
      <ul class="lines">
        {log.items.slice(0, SHOWN_MAX).map((record) => (
          <li class="line line-stacked" key={record.name}>
            <span class="line-name">
              <strong>
                {record.target.kind === 'Tag' && `${record.target.name.slice(record.target.name.indexOf('.') + 1).toUpperCase()}: `}
                {deedOf(record)}
              </strong>{' '}
              {record.result !== 'Success' && word(record.result)} {record.operatorReason ?? record.reason ?? ''}
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
