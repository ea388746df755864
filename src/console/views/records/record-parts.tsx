/** What a record holds, one table each: on the screen one is chosen, on paper all of them follow each other. */
import { useState } from 'preact/hooks';
import { can } from '../../data/session.js';
import { type BatchRecord, isNumeric } from '../../data/types.js';
import { Chips } from '../../common/chips.js';
import { printing } from '../../common/printing.js';
import { meaningText, t, word, words } from '../../common/strings.js';
import { fullMomentText, recordText, unitText } from '../../common/text.js';
import { wholeLog } from '../../common/use-log.js';
import { type Column, Table } from '../../parts/table.js';
import { isSeverity, SeverityBadge } from '../../parts/badge.js';
import { sourceName } from '../../plant/alarm.js';
import { EventText } from '../../plant/what-happened.js';
import { VerifyDialog } from './verify-dialog.js';

const text = words({
  en: {
    parameters: 'Parameters',
    materials: 'Materials',
    outputs: 'Results',
    actions: 'Actions',
    results: 'Laboratory',
    phases: 'Phases',
    events: 'Journal',
    alarms: 'Alarms',
    equipment: 'Equipment',
    none: 'Nothing is recorded.',
    name: 'Name',
    from: 'Comes from',
    where: 'Step',
    use: 'Use',
    uses: { used: 'used', made: 'made' },
    material: 'Material',
    lot: 'Lot',
    quality: 'Quality',
    what: 'What',
    signature: 'Signature',
    verify: 'Verify',
    limits: 'Limits',
    sample: 'Sample',
    system: 'System',
    run: 'Run',
    state: 'State',
    until: 'Until',
    cause: 'Cause',
    source: 'Source',
    raised: 'Came',
    acknowledged: 'Acknowledged',
    cleared: 'Went',
    stood: 'stood before',
    capability: 'For',
    allocated: 'Allocated',
    released: 'Released',
    ofAll: 'the batch',
  },
  de: {
    parameters: 'Parameter',
    materials: 'Stoffe',
    outputs: 'Ergebnisse',
    actions: 'Handlungen',
    results: 'Labor',
    phases: 'Phasen',
    events: 'Journal',
    alarms: 'Alarme',
    equipment: 'Anlage',
    none: 'Nichts ist aufgezeichnet.',
    name: 'Name',
    from: 'Kommt aus',
    where: 'Schritt',
    use: 'Art',
    uses: { used: 'verbraucht', made: 'hergestellt' },
    material: 'Stoff',
    lot: 'Los',
    quality: 'Qualität',
    what: 'Was',
    signature: 'Unterschrift',
    verify: 'Prüfen',
    limits: 'Grenzen',
    sample: 'Probe',
    system: 'System',
    run: 'Lauf',
    state: 'Zustand',
    until: 'Bis',
    cause: 'Ursache',
    source: 'Quelle',
    raised: 'Gekommen',
    acknowledged: 'Quittiert',
    cleared: 'Gegangen',
    stood: 'stand schon',
    capability: 'Für',
    allocated: 'Belegt',
    released: 'Freigegeben',
    ofAll: 'Charge',
  },
});

type Spec = BatchRecord['spec'];
type Parameter = Spec['parameterValues'][number];
type Output = Spec['outputs'][number];
type Material = Spec['materials']['inputs'][number] & { readonly use: 'used' | 'made' };
type Action = Spec['operatorActions'][number];
type LabResult = Spec['externalResults'][number];
type Spell = Omit<Spec['phaseHistory'][number], 'states'> & Spec['phaseHistory'][number]['states'][number];
type RecordedEvent = Spec['executionEvents'][number];
type RecordedAlarm = Spec['alarms'][number];
type Equipment = Spec['equipment'][number];

/** Every letter and digit of it. */
const valued = (value: string, unit: string, isNumber: boolean): string => `${recordText(value, isNumber)} ${unitText(unit)}`.trim();
const placeOf = (path: string): string => path || text.ofAll;

const PARAMETERS: readonly Column<Parameter>[] = [
  { key: 'name', title: text.name, cell: ({ name }) => name },
  { key: 'value', title: t.value, cell: ({ value, unit }) => valued(value, unit, unit !== ''), isNumber: true },
  { key: 'where', title: text.where, cell: ({ element }) => placeOf(element) },
  { key: 'from', title: text.from, cell: ({ source, sourceRef }) => [word(source), sourceRef].filter((part) => part !== '').join(', ') },
];

const MATERIALS: readonly Column<Material>[] = [
  { key: 'at', title: t.time, cell: ({ at }) => fullMomentText(at) },
  { key: 'use', title: text.use, cell: ({ use }) => text.uses[use] },
  { key: 'material', title: text.material, cell: ({ material }) => material },
  { key: 'lot', title: text.lot, cell: ({ lotID }) => lotID },
  { key: 'quantity', title: t.quantity, cell: ({ quantity, unit }) => valued(quantity, unit, true), isNumber: true },
  { key: 'unit', title: t.unit, cell: ({ unitName }) => unitName.toUpperCase() },
  { key: 'where', title: text.where, cell: ({ element }) => placeOf(element) },
];

const OUTPUTS: readonly Column<Output>[] = [
  { key: 'name', title: text.name, cell: ({ name }) => name },
  { key: 'value', title: t.value, cell: ({ value, unit, type }) => valued(value, unit, isNumeric(type)), isNumber: true },
  { key: 'quality', title: text.quality, cell: ({ quality }) => t.qualities[quality] ?? quality },
  { key: 'where', title: text.where, cell: ({ element }) => placeOf(element) },
  { key: 'at', title: t.time, cell: ({ at }) => fullMomentText(at) },
];

const actionsWith = (onVerify: (signature: string) => void): readonly Column<Action>[] => [
  { key: 'ts', title: t.time, cell: ({ ts }) => fullMomentText(ts) },
  { key: 'who', title: t.who, cell: ({ person }) => person.displayName },
  { key: 'action', title: text.what, cell: ({ action }) => word(action) },
  { key: 'value', title: t.value, cell: ({ value, action }) => (action === 'Command' ? word(value) : value) },
  { key: 'where', title: text.where, cell: ({ element }) => placeOf(element.path) },
  { key: 'reason', title: t.reason, cell: ({ reason }) => reason, isText: true },
  {
    key: 'signature',
    title: text.signature,
    cell: ({ signed, meaning, signatureRef }) => signed && <SignatureCell meaning={meaning} signature={signatureRef} onVerify={onVerify} />,
  },
];

const RESULTS: readonly Column<LabResult>[] = [
  { key: 'ts', title: t.time, cell: ({ ts }) => fullMomentText(ts) },
  { key: 'name', title: text.name, cell: ({ resultKey }) => resultKey },
  { key: 'value', title: t.value, cell: ({ value, unit }) => valued(value, unit, unit !== ''), isNumber: true },
  { key: 'limits', title: text.limits, cell: ({ min, max, unit }) => (min === '' && max === '' ? '' : t.between(recordText(min, true), recordText(max, true), unitText(unit))) },
  { key: 'sample', title: text.sample, cell: ({ sampleID }) => sampleID },
  { key: 'system', title: text.system, cell: ({ externalSystem }) => externalSystem },
  { key: 'where', title: text.where, cell: ({ phase }) => phase },
];

const PHASES: readonly Column<Spell>[] = [
  { key: 'from', title: t.time, cell: ({ from }) => fullMomentText(from) },
  { key: 'to', title: text.until, cell: ({ to }) => fullMomentText(to) },
  { key: 'where', title: text.where, cell: ({ path, kind }) => path || word(kind) },
  { key: 'unit', title: t.unit, cell: ({ unit }) => unit.toUpperCase() },
  { key: 'run', title: text.run, cell: ({ run }) => run, isNumber: true },
  { key: 'state', title: text.state, cell: ({ state }) => word(state) },
  { key: 'cause', title: text.cause, cell: ({ cause }) => word(cause), isText: true },
];

const EVENTS: readonly Column<RecordedEvent>[] = [
  { key: 'ts', title: t.time, cell: ({ ts }) => fullMomentText(ts) },
  { key: 'what', title: text.what, cell: (event) => <EventText event={event} />, isText: true },
  { key: 'kind', title: t.category, cell: ({ eventType, eventSubType }) => [...new Set([word(eventType), word(eventSubType)])].join(', ') },
  { key: 'audit', title: t.auditTrail, cell: ({ auditRecordRef }) => auditRecordRef },
];

const ALARMS: readonly Column<RecordedAlarm>[] = [
  { key: 'raised', title: text.raised, cell: ({ raisedAt, standingAt }) => `${fullMomentText(raisedAt)}${standingAt === undefined ? '' : ` (${text.stood})`}` },
  { key: 'severity', title: t.severity, cell: ({ severity }) => (isSeverity(severity) ? <SeverityBadge severity={severity} past /> : word(severity)) },
  { key: 'message', title: t.message, cell: ({ message, name }) => message || name, isText: true },
  { key: 'source', title: text.source, cell: (alarm) => sourceName(alarm) },
  { key: 'acknowledged', title: text.acknowledged, cell: ({ acknowledgedAt, acknowledgedBy }) => [fullMomentText(acknowledgedAt), acknowledgedBy].join(' ') },
  { key: 'cleared', title: text.cleared, cell: ({ clearedAt }) => fullMomentText(clearedAt) },
];

const EQUIPMENT: readonly Column<Equipment>[] = [
  { key: 'unit', title: t.unit, cell: ({ unit }) => unit.toUpperCase() },
  { key: 'capability', title: text.capability, cell: ({ capability }) => capability },
  { key: 'allocated', title: text.allocated, cell: ({ allocatedAt }) => fullMomentText(allocatedAt) },
  { key: 'released', title: text.released, cell: ({ releasedAt }) => fullMomentText(releasedAt) },
];

interface Part {
  readonly name: string;
  readonly title: string;
  readonly count: number;
  readonly table: preact.JSX.Element;
}

function partOf<Row>(name: Exclude<keyof typeof text, 'uses'>, rows: readonly Row[], columns: readonly Column<Row>[]): Part {
  const title = text[name];
  const keys = new Map(rows.map((row, at) => [row, String(at)]));
  const table = <Table label={title} columns={columns} rows={wholeLog(rows)} keyOf={(row) => keys.get(row) ?? ''} empty={text.none} isPart testid={`record-${name}`} />;
  return { name, title, count: rows.length, table };
}

function partsOf(spec: Spec, onVerify: (signature: string) => void): readonly Part[] {
  const { materials, phaseHistory } = spec;
  const used = materials.inputs.map((each): Material => ({ ...each, use: 'used' }));
  const made = materials.outputs.map((each): Material => ({ ...each, use: 'made' }));
  const spells = phaseHistory.flatMap(({ states, ...element }) => states.map((state): Spell => ({ ...element, ...state })));
  return [
    partOf('parameters', spec.parameterValues, PARAMETERS),
    partOf('materials', [...used, ...made], MATERIALS),
    partOf('outputs', spec.outputs, OUTPUTS),
    partOf('actions', spec.operatorActions, actionsWith(onVerify)),
    partOf('results', spec.externalResults, RESULTS),
    partOf('phases', spells, PHASES),
    partOf('events', spec.executionEvents, EVENTS),
    partOf('alarms', spec.alarms, ALARMS),
    partOf('equipment', spec.equipment, EQUIPMENT),
  ];
}

export function RecordParts({ record }: { readonly record: BatchRecord }) {
  const [chosen, setChosen] = useState('parameters');
  const [verifying, setVerifying] = useState('');
  const parts = partsOf(record.spec, setVerifying);
  return (
    <section class="panel record-parts" aria-label={t.details}>
      <Chips label={t.show} value={chosen} options={parts.map(({ name, title, count }) => [name, `${title} ${count}`])} onChoose={setChosen} testid="record-part" />
      {parts
        .filter(({ name }) => printing.value || name === chosen)
        .map(({ name, title, table }) => (
          <div class="record-part" key={name}>
            <h3 class={printing.value ? '' : 'visually-hidden'}>{title}</h3>
            {table}
          </div>
        ))}
      {verifying !== '' && <VerifyDialog key={verifying} signature={verifying} onClose={() => setVerifying('')} />}
    </section>
  );
}

interface SignatureCellProps {
  readonly meaning: string;
  readonly signature: string;
  readonly onVerify: (signature: string) => void;
}

function SignatureCell({ meaning, signature, onVerify }: SignatureCellProps) {
  return (
    <>
      {meaningText(meaning)}{' '}
      {can('signature:verify') && signature !== '' && (
        <button type="button" class="button" onClick={() => onVerify(signature)} data-testid={`verify-${signature}`}>
          {text.verify}
        </button>
      )}
    </>
  );
}
