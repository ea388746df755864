/** One record, read as a whole: what was made of what, with which values, what happened meanwhile, and who answers for it with his signature. */
import { useEffect, useState } from 'preact/hooks';
import { boxNowMs } from '../../data/box-clock.js';
import { site } from '../../data/plant.js';
import { FORMS, type Form, readDocument, readRecord } from '../../data/records.js';
import { me } from '../../data/session.js';
import type { BatchRecord } from '../../data/types.js';
import { addressOf } from '../../data/view.js';
import { FactList } from '../../common/fact-list.js';
import { Fault, ReadFault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { printing, printPage } from '../../common/printing.js';
import { saveFile } from '../../common/save-file.js';
import { t, words } from '../../common/strings.js';
import { fullMomentText, localText, recordText, unitText, zoneText } from '../../common/text.js';
import { useSend } from '../../common/use-send.js';
import { StateBadge } from '../../plant/state-badge.js';
import type { ViewDefinition } from '../../frame/view-definition.js';
import { RecordParts } from './record-parts.js';
import { RecordSide } from './record-side.js';
import { recordsSection } from './record-words.js';
import './record.css';

const text = words({
  en: {
    title: 'Record',
    printed: (at: string, by: string) => `Printed ${at} by ${by}. Digest SHA-256`,
    product: 'Product',
    formula: 'Formula',
    lot: 'Lot',
    span: 'From, to',
    all: 'All records',
    batch: 'Batch',
    history: 'Recorded values',
    alarms: 'Alarm events',
    failed: 'Ended by',
    interrupted: (unit: string, from: string, to: string) => `${unit} was not controlled from ${from || 'an unknown moment'} to ${to}.`,
    settling: 'Not complete yet:',
    form: { json: 'JSON', xml: 'XML' },
    says: { json: 'Export all that is on record as JSON', xml: 'Export as BatchML (XML)' },
  },
  de: {
    title: 'Chargenprotokoll',
    printed: (at: string, by: string) => `Gedruckt ${at} von ${by}. Digest SHA-256`,
    product: 'Produkt',
    formula: 'Formel',
    lot: 'Los',
    span: 'Von, bis',
    all: 'Alle Protokolle',
    batch: 'Charge',
    history: 'Aufgezeichnete Werte',
    alarms: 'Alarmereignisse',
    failed: 'Beendet durch',
    interrupted: (unit: string, from: string, to: string) => `${unit} war von ${from || 'unbekannt'} bis ${to} nicht geführt.`,
    settling: 'Noch nicht vollständig:',
    form: { json: 'JSON', xml: 'XML' },
    says: { json: 'Alles, was aufgezeichnet ist, als JSON ausgeben', xml: 'Als BatchML (XML) ausgeben' },
  },
});

export const recordView: ViewDefinition = {
  name: 'record',
  section: recordsSection,
  title: (id) => `${text.title} ${id}`,
  component: ({ id }) => <RecordView key={`${site.value} ${id}`} name={id} />,
};

function RecordView({ name }: { readonly name: string }) {
  const [record, setRecord] = useState<BatchRecord | null>(null);
  const [fault, setFault] = useState('');
  const [count, setCount] = useState(0);
  useEffect(() => {
    let current = true; // another record may have been opened before the answer
    readRecord(name).then(
      (read) => {
        if (!current) return;
        setRecord(read);
        setFault('');
      },
      (refused: unknown) => current && setFault(faultText(refused)),
    );
    return () => {
      current = false;
    };
  }, [name, count]);
  if (!record)
    return (
      <section class="panel page" aria-label={text.title} data-testid="record-none">
        {fault === '' ? <p role="status">{t.reading}</p> : <ReadFault text={fault} />}
        <a class="button" href={addressOf('records')}>
          {text.all}
        </a>
      </section>
    );
  return (
    <div class="record" data-testid="record-view">
      <Head record={record} fault={fault} />
      <RecordParts record={record} />
      <RecordSide record={record} onChanged={() => setCount(count + 1)} />
    </div>
  );
}

/** Times of the view name no zone: the span of the batch does, for all of them. */
function Head({ record, fault }: { readonly record: BatchRecord; readonly fault: string }) {
  const { spec, outcome } = record;
  const { batch, recipe } = spec;
  const span = { from: localText(Date.parse(batch.startedAt)), to: localText(Date.parse(batch.endedAt) + 1000) };
  return (
    <header class="panel record-head" aria-labelledby="record-title">
      <h2 id="record-title">{batch.batchID}</h2>
      <StateBadge state={outcome} testid="record-outcome" />
      <FactList
        facts={[
          [text.product, [recipe.productName, recipe.productID].filter((part, at, all) => part !== '' && all.indexOf(part) === at).join(', ')],
          [t.recipe, `${recipe.name} ${recipe.version}`],
          [text.formula, recipe.formulaName],
          [t.quantity, batch.quantity === '' ? '' : `${recordText(batch.quantity, true)} ${unitText(batch.engineeringUnit)}`],
          [text.lot, batch.lotID],
          [t.workOrder, batch.workOrderID],
          [text.span, `${fullMomentText(batch.startedAt)} – ${fullMomentText(batch.endedAt)} ${zoneText(batch.endedAt)}`],
        ]}
      />
      <div class="record-actions">
        <a class="button" href={addressOf('batch', record.name)} data-testid="to-batch">
          {text.batch}
        </a>
        <a class="button" href={addressOf('history', '', span)} data-testid="to-history">
          {text.history}
        </a>
        <a class="button" href={addressOf('alarmlog', '', span)} data-testid="to-alarms">
          {text.alarms}
        </a>
        <button type="button" class="button" onClick={printPage} data-testid="record-print">
          {t.print}
        </button>
        <Export record={record} form="xml" />
        <Export record={record} form="json" />
      </div>
      {printing.value && (
        <p class="hint">
          {text.printed(fullMomentText(new Date(boxNowMs()).toISOString()), me.value?.displayName ?? '')} <span class="mono">{record.digest}</span>
        </p>
      )}
      <Trouble record={record} />
      <ReadFault text={fault} />
    </header>
  );
}

function Export({ record, form }: { readonly record: BatchRecord; readonly form: Form }) {
  const sending = useSend();
  const hand = (): void => void sending.run(async () => saveFile(`${record.name}.${form}`, FORMS[form], await readDocument(record.name, form)));
  return (
    <>
      <button type="button" class="button" title={text.says[form]} disabled={sending.busy} onClick={hand} data-testid={`record-${form}`}>
        {sending.busy ? t.reading : text.form[form]}
      </button>
      <Fault text={sending.fault} code={sending.code} testid={`record-${form}-fault`} />
    </>
  );
}

/** What must be known before the rest is read. */
function Trouble({ record: { spec, conditions } }: { readonly record: BatchRecord }) {
  const open = conditions.find(({ type, status }) => type === 'PhaseHistorySettled' && status !== 'True');
  return (
    <>
      {spec.failure && (
        <p class="warning" data-testid="record-failure">
          <strong>{text.failed}</strong> {spec.failure.message} <span class="hint">{spec.failure.rule}</span>
        </p>
      )}
      {open && (
        <p class="note">
          <strong>{text.settling}</strong> {open.message}
        </p>
      )}
      {spec.failoverEvents.map(({ unit, reboundAt, controlGap }, at) => (
        <p class="note" key={at}>
          {text.interrupted(unit.toUpperCase(), fullMomentText(controlGap.from.at), fullMomentText(controlGap.to.at || reboundAt))}
        </p>
      ))}
    </>
  );
}
