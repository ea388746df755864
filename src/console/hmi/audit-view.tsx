/** Who did what, when, and what came of it. One record opens with its values before and after and what it brought about. */
import { useEffect, useState } from 'preact/hooks';
import { type AuditFilter, readAudit, readCorrelation } from '../data/audit.js';
import { site } from '../data/plant.js';
import { can } from '../data/session.js';
import type { AuditRecord } from '../data/types.js';
import { Dialog } from '../common/dialog.js';
import { FactList } from '../common/fact-list.js';
import { ReadFault } from '../common/fault.js';
import { faultText } from '../common/fault-text.js';
import { LogFoot } from '../common/log-foot.js';
import { t, word, words } from '../common/strings.js';
import { momentText } from '../common/text.js';
import { useLog } from '../common/use-log.js';
import { ArchiveIntegrity, UnreadableArchives } from './archive-integrity.js';
import type { ViewDefinition } from './view-definition.js';

/** Those an operator asks for; the trail has more, and shows them without a filter. */
const CATEGORIES = ['command', 'mode', 'tag-write', 'alarm', 'prompt', 'batch', 'active-step', 'interlock-bypass', 'signature', 'recipe-lifecycle', 'auth'];
const RESULTS = ['Success', 'Accepted', 'Rejected', 'Failed'];
const ALL: AuditFilter = { category: '', result: '', name: '', from: '' };

export const auditView: ViewDefinition = {
  name: 'audit',
  action: 'audit:read',
  title: () => words({ en: 'Audit', de: 'Protokoll' }),
  component: AuditView,
};

function AuditView() {
  const [filter, setFilter] = useState(ALL);
  const [open, setOpen] = useState<AuditRecord | null>(null);
  const log = useLog<AuditRecord>((cursor) => readAudit(filter, cursor), [filter, site.value]);
  return (
    <section class="panel page" aria-labelledby="audit-title" data-testid="audit-view">
      <header class="page-head">
        <h2 id="audit-title">{t.auditTrail}</h2>
        <Filter filter={filter} onChange={setFilter} />
      </header>
      <ArchiveIntegrity />
      <UnreadableArchives files={log.unreadable} />
      <div class="scroll" tabIndex={0} role="region" aria-label={t.auditTrail}>
        <table class="table" data-testid="audit-table">
          <thead>
            <tr>
              {[t.time, t.who, t.action, t.target, t.result, t.reason, ''].map((head, at) => (
                <th key={at} scope="col">
                  {head === '' ? <span class="visually-hidden">{t.details}</span> : head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {log.items.map((record) => (
              <tr key={record.name} data-category={record.category} data-target={record.target.name}>
                <td class="number">{momentText(record.timestamp)}</td>
                <td>{record.displayName}</td>
                <td>
                  {word(record.action)} {word(record.category) !== word(record.action) && <span class="hint">{word(record.category)}</span>}
                </td>
                <td class="long">
                  {record.target.name} <span class="hint">{word(record.target.kind)}</span>
                </td>
                <td>{record.result === 'Rejected' || record.result === 'Failed' ? <strong>{word(record.result)}</strong> : word(record.result)}</td>
                <td>{record.operatorReason ?? record.reason ?? ''}</td>
                <td>
                  <button type="button" class="button" onClick={() => setOpen(record)} aria-label={`${t.details}: ${record.name}`} data-testid={`audit-${record.name}`}>
                    …
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <LogFoot log={log} />
      {open && <RecordDialog key={open.name} record={open} onClose={() => setOpen(null)} />}
    </section>
  );
}

function Filter({ filter, onChange }: { readonly filter: AuditFilter; readonly onChange: (filter: AuditFilter) => void }) {
  const choice = (member: 'category' | 'result', label: string, every: string, values: readonly string[]) => (
    <select
      class="select"
      aria-label={label}
      value={filter[member]}
      onChange={(event) => onChange({ ...filter, [member]: event.currentTarget.value })}
      data-testid={`audit-${member}`}
    >
      <option value="">{every}</option>
      {values.map((value) => (
        <option key={value} value={value}>
          {word(value)}
        </option>
      ))}
    </select>
  );
  return (
    <div class="page-filters">
      {choice('category', t.category, t.everyCategory, CATEGORIES)}
      {choice('result', t.result, t.everyResult, RESULTS)}
      <input
        class="select"
        type="search"
        aria-label={t.target}
        placeholder={t.target}
        value={filter.name}
        onChange={(event) => onChange({ ...filter, name: event.currentTarget.value.trim() })}
        data-testid="audit-name"
      />
      <input class="select" type="datetime-local" aria-label={t.from} value={filter.from} onChange={(event) => onChange({ ...filter, from: event.currentTarget.value })} />
    </div>
  );
}

function RecordDialog({ record, onClose }: { readonly record: AuditRecord; readonly onClose: () => void }) {
  const [related, setRelated] = useState<readonly AuditRecord[]>([]);
  const [fault, setFault] = useState('');
  useEffect(() => {
    if (!can('audit:read-correlation')) return;
    readCorrelation(record.correlationID).then(setRelated, (refused: unknown) => setFault(faultText(refused)));
  }, [record.name]);
  return (
    <Dialog title={`${word(record.action)}: ${record.target.name}`} testid="audit-dialog" wide onClose={onClose}>
      <div class="stack">
        <FactList
          facts={[
            [t.time, new Date(record.timestamp).toLocaleString()],
            [t.who, record.displayName],
            [t.result, word(record.result)],
            [t.reason, record.operatorReason ?? record.reason ?? ''],
            [t.record, record.name],
          ]}
        />
        {(['before', 'after', 'details'] as const).map(
          (member) =>
            record[member] !== undefined && (
              <section key={member}>
                <h3>{t.auditParts[member]}</h3>
                <pre class="mono audit-json" tabIndex={0}>
                  {JSON.stringify(record[member], null, 2)}
                </pre>
              </section>
            ),
        )}
        <ReadFault text={fault} />
        {related.length > 1 && (
          <section>
            <h3>{t.related}</h3>
            <ul data-testid="audit-related">
              {related.map((each) => (
                <li key={each.name}>
                  <span class="number">{momentText(each.timestamp)}</span> {each.displayName}: {word(each.action)} {each.target.name}, {word(each.result)}
                </li>
              ))}
            </ul>
          </section>
        )}
        <div class="dialog-actions">
          <button type="button" class="button primary" onClick={onClose} data-testid="audit-close">
            {t.close}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
