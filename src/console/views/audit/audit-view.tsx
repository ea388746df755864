/** Who did what, when, and what came of it. One record opens with its values before and after and what it brought about. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { type AuditFilter, readAudit, readAuditRecord, readCorrelation } from '../../data/audit.js';
import { site } from '../../data/plant.js';
import { can } from '../../data/session.js';
import type { AuditRecord } from '../../data/types.js';
import { narrow, view } from '../../data/view.js';
import { Dialog } from '../../common/dialog.js';
import { FactList } from '../../common/fact-list.js';
import { ReadFault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { LogFoot } from '../../common/log-foot.js';
import { t, word, words } from '../../common/strings.js';
import { momentText, preciseMomentText } from '../../common/text.js';
import { useLog } from '../../common/use-log.js';
import { categoryOf, categoryText, changesOf, deedOf, linesOf, targetOf } from './audit-words.js';
import { askedBy, askersOf } from './audit-askers.js';
import { ArchiveIntegrity, UnreadableArchives } from './archive-integrity.js';

const text = words({
  en: { askedBy: (who: string) => `for ${who}`, changed: 'Changed', recorded: 'As recorded (JSON)' },
  de: { askedBy: (who: string) => `für ${who}`, changed: 'Geändert', recorded: 'Wie aufgezeichnet (JSON)' },
});

/** Those an operator asks for; the trail has more, and shows them without a filter. */
const CATEGORIES = ['command', 'mode', 'tag-write', 'alarm', 'prompt', 'batch', 'active-step', 'interlock-bypass', 'signature', 'recipe-lifecycle', 'auth'];
const RESULTS = ['Success', 'Accepted', 'Rejected', 'Failed'];
const ALL: AuditFilter = { category: '', result: '', name: '', from: '' };

export function AuditView() {
  const [filter, setFilter] = useState(ALL);
  const [open, setOpen] = useState<AuditRecord | null>(null);
  const log = useLog<AuditRecord>((cursor) => readAudit(filter, cursor), [filter, site.value]);
  const askers = useMemo(() => askersOf(log.items), [log.items]);
  const { record: named = '' } = view.value.query;
  useEffect(() => {
    if (named === '') return undefined;
    let current = true; // another one may be asked for before this one is there
    setOpen(null);
    readAuditRecord(named).then(
      (record) => current && setOpen((shown) => shown ?? record), // somebody has opened one meanwhile
      () => undefined, // the list is there all the same
    );
    return () => {
      current = false;
    };
  }, [named]);
  const close = (): void => {
    setOpen(null);
    if (named !== '') narrow({ record: '' });
  };
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
                <td>
                  {record.displayName} <AskedBy who={askedBy(record, askers)} />
                </td>
                <td class="long" data-testid="audit-deed">
                  {deedOf(record)} {categoryOf(record) !== '' && <span class="hint">{categoryOf(record)}</span>}
                </td>
                <td class="long" title={record.target.name}>
                  {targetOf(record)} <span class="hint">{word(record.target.kind)}</span>
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
      {open && <RecordDialog key={open.name} record={open} onClose={close} />}
    </section>
  );
}

function AskedBy({ who }: { readonly who: string }) {
  return who === '' ? null : <span class="hint">{text.askedBy(who)}</span>;
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
          {member === 'category' ? categoryText(value) : word(value)}
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
  const asker = useMemo(() => askedBy(record, askersOf(related)), [record, related]);
  const [fault, setFault] = useState('');
  useEffect(() => {
    if (!can('audit:read-correlation')) return undefined;
    let current = true;
    readCorrelation(record.correlationID).then(
      (found) => current && setRelated(found),
      (refused: unknown) => current && setFault(faultText(refused)),
    );
    return () => {
      current = false;
    };
  }, [record.name]);
  return (
    <Dialog title={`${deedOf(record)}: ${targetOf(record)}`} testid="audit-dialog" wide reads onClose={onClose}>
      <div class="stack">
        <FactList
          facts={[
            [t.time, preciseMomentText(record.timestamp)],
            [t.who, [record.displayName, asker && text.askedBy(asker)].filter((part) => part !== '').join(' ')],
            [t.action, [word(record.action), categoryText(record.category)].join(', ')],
            [t.target, `${word(record.target.kind)} ${record.target.name}`],
            [t.result, word(record.result)],
            [t.reason, record.operatorReason ?? record.reason ?? ''],
            [t.record, record.name],
          ]}
        />
        <Changed record={record} />
        <Lines title={t.auditParts.details} value={withoutClock(record.details)} />
        <Recorded record={record} />
        <ReadFault text={fault} />
        {related.length > 1 && (
          <section>
            <h3>{t.related}</h3>
            <ul data-testid="audit-related">
              {related.map((each) => (
                <li key={each.name}>
                  <span class="number">{momentText(each.timestamp)}</span> {each.displayName}: {deedOf(each)} {targetOf(each)}, {word(each.result)}
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

/** That the clock of the box was good is evidence of the record, and nothing of the deed. */
function withoutClock({ clock: _clock, ...details }: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return details;
}

/** Of an edit what differs; of what was made or removed everything. */
function Changed({ record }: { readonly record: AuditRecord }) {
  const { before, after } = record;
  if (record.category === 'tag-write') return <List title={text.changed} lines={[deedOf(record)]} />;
  if (before === undefined || after === undefined) return <Lines title={before === undefined ? t.auditParts.after : t.auditParts.before} value={before ?? after} />;
  return <List title={text.changed} lines={changesOf(before, after)} />;
}

function Lines({ title, value }: { readonly title: string; readonly value: unknown }) {
  return <List title={title} lines={linesOf(value).map(([path, held]) => (path === '' ? held : `${path}: ${held}`))} />;
}

function List({ title, lines }: { readonly title: string; readonly lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul class="audit-lines" tabIndex={0} aria-label={title}>
        {lines.map((line, at) => (
          <li key={at}>{line}</li>
        ))}
      </ul>
    </section>
  );
}

/** For who compares it with an export: every letter of it. */
function Recorded({ record: { before, after, details } }: { readonly record: AuditRecord }) {
  return (
    <details>
      <summary class="button" data-testid="audit-recorded">
        {text.recorded}
      </summary>
      <pre class="mono audit-json" tabIndex={0}>
        {JSON.stringify({ before, after, details }, null, 2)}
      </pre>
    </details>
  );
}
