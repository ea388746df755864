/** What a batch record rests on without a plant: sealing, chart export, and XML that carries any text. */
import t from 'tap';
import { canonicalDigest } from '../../../src/platform/ledger/canonical-json.js';
import { component } from '../../../src/platform/store/audit-record.js';
import { Batch, BatchSpec } from '../../../src/domains/batches/kind.js';
import { assembleRecord } from '../../../src/domains/records/assembly.js';
import { BatchRecord, type BatchRecordStatus } from '../../../src/domains/records/kind.js';
import { procedureLogic } from '../../../src/domains/records/procedure-logic.js';
import { element, renderXml, renderXmlInTurns, required, series, text, type XmlElement } from '../../../src/platform/http/xml.js';
import type { Put } from '../../../src/platform/store/store.js';
import { SITE, startMesPlant } from '../mes/plant.js';
import { texts } from '../mes/schema.js';
import { parse } from 'valibot';

type Reason = 'AllPhasesAtRest' | 'PhasesStillTransitional' | 'SettleDeadlineExceeded' | 'RepairWouldLoseEntries';

t.test('RECORD-10, RECORD-11, RECORD-13: sealing needs a settled record, a supervisor and a fresh token', async (t) => {
  const plant = await startMesPlant();
  t.teardown(() => plant.stop());
  const { store } = plant;
  const supervisor = await plant.as('supervisor');

  async function recordOf(reason: Reason): Promise<string> {
    const name = `b-${reason.toLowerCase()}`;
    const spec = parse(BatchSpec, { batchID: reason, masterRecipeRef: 'resin-a' });
    await store.write({ puts: [{ kind: Batch, site: 'demo', name, spec, status: { ...Batch.initialStatus(spec), phase: 'Stopped' } } as Put] });
    const batch = store.get(Batch, 'demo', name) as NonNullable<ReturnType<typeof store.get<BatchSpec, ReturnType<typeof Batch.initialStatus>>>>;
    const content = assembleRecord(batch, store, { events: [], states: [], actions: [], results: [], alarms: [], unreadable: [] });
    const condition = { type: 'PhaseHistorySettled', status: reason === 'AllPhasesAtRest' ? 'True' : 'False', reason, message: 'as the test says' } as const;
    const digest = canonicalDigest(content);
    const status: BatchRecordStatus = { ...BatchRecord.initialStatus(content), outcome: 'Stopped', digest, conditions: [condition] };
    const told = { site: 'demo', actor: component('batch-controller'), action: 'Create', category: 'batch-record', target: { kind: 'BatchRecord', name, site: 'demo' } } as const;
    await store.write({
      puts: [{ kind: BatchRecord, site: 'demo', name, spec: content, status } as Put],
      audits: [{ ...told, result: 'Success', details: { outcome: 'Stopped', digest, settling: reason }, correlationID: `record-${name}` }],
    });
    return `${SITE}/batchrecords/${name}`;
  }

  const moving = await recordOf('PhasesStillTransitional');
  t.match(await supervisor.post(`${moving}/finalize`, { reason: 'now' }), { status: 409, body: { code: 'record_not_settled', reason: 'PhasesStillTransitional' } });
  t.match((await supervisor.get(moving)).body, { phase: 'Open' });
  for (const reason of ['SettleDeadlineExceeded', 'RepairWouldLoseEntries'] as const) {
    t.match(await supervisor.post(`${await recordOf(reason)}/finalize`, { reason: 'as it is' }), { status: 200, body: { phase: 'Finalized' } }, reason);
  }
  const rested = await recordOf('AllPhasesAtRest');
  t.match(await plant.operator.post(`${rested}/finalize`, { reason: 'mine' }), { status: 403, body: { action: 'batchrecord:finalize' } });
  t.match(await plant.operator.post(`${rested}/comments`, { text: 'mine' }), { status: 403, body: { action: 'batchrecord:comment' } }, 'RECORD-15');
  plant.clock.advance(301_000);
  t.match(await supervisor.post(`${rested}/finalize`, { reason: 'late' }), { status: 401, body: { code: 'reauthentication_required' } });
  t.match(await supervisor.post(`${rested}/review`, { outcome: 'Accepted' }), { status: 401, body: { code: 'reauthentication_required' } });
  t.equal((await supervisor.post(`${rested}/comments`, { text: 'no signature, no fresh token' })).status, 201);
  t.match(await plant.mes.post(`${rested}/comments`, { text: 'from outside' }), { status: 403, body: { code: 'api_key_fence' } });
});

/** `type: from > to` of every link. */
function links(chart: Parameters<typeof procedureLogic>[0]): string[] {
  const xml = renderXml(procedureLogic(chart, 'p', '1') as XmlElement, 'b2mml');
  return texts(xml, '//b:Link/b:LinkType').map((kind, at) => {
    const ends = (name: string) => texts(xml, `//b:Link[${at + 1}]//b:${name}`).join('+');
    return `${kind}: ${ends('FromIDValue')} > ${ends('ToIDValue')}`;
  });
}

t.test('decisions 8.8: charts become links of the kind that BatchML has for them', async (t) => {
  const steps = ['a', 'b', 'c', 'd'].map((name) => ({ name }));
  t.same(links({ steps: steps.slice(0, 3) }), ['ControlLink: a > b', 'ControlLink: b > c'], 'in array order');
  t.same(
    links({
      steps,
      transitions: [
        { from: 'a', to: 'b' },
        { from: 'a', to: 'c' },
        { from: 'b', to: 'd' },
        { from: 'c', to: 'd' },
      ],
    }),
    [
      'SerialDivergent: a > a->b#0+a->c#1',
      'ControlLink: b > b->d#2',
      'ControlLink: c > c->d#3',
      'ControlLink: a->b#0 > b',
      'ControlLink: a->c#1 > c',
      'SerialConvergent: b->d#2+c->d#3 > d',
    ],
  );
  const divergences = [
    { name: 'split', type: 'SimultaneousDiverge', branches: ['b', 'c'] },
    { name: 'join', type: 'SimultaneousConverge', branches: ['b', 'c'] },
  ];
  t.same(
    links({
      steps,
      divergences,
      transitions: [
        { from: 'a', to: 'split' },
        { from: 'join', to: 'd' },
      ],
    }),
    ['ControlLink: a > a->split#0', 'ParallelConvergent: b+c > join->d#1', 'ParallelDivergent: a->split#0 > b+c', 'ControlLink: join->d#1 > d'],
  );
  t.equal(procedureLogic({ steps: [] }, '', '1'), undefined);
});

t.test('Q-MES-28: all at once or in turns it is the same document, whatever its texts hold', async (t) => {
  const whole = ['R&D; x', '&zz;', '&#0;', '&#14;', 'A &amp; B', '&lt;b&gt;', '&#65;', 'line\r\nline', '<!-- a -->', ']]>', '<![CDATA[x]]>'];
  const hostile = ['a < b && c > "d"', "it's ]]> here", 'control \u0000\u0008\u001f char', 'tab\tand\nline', 'lone \ud800 and \udfff', 'pair 😀', '\ufffe'];
  const tree = element(
    'Root',
    required('Empty', ''),
    text('Left', ''),
    element('Nothing'),
    required('Status', 'Other', { OtherValue: 'a "quoted" <word> & more' }),
    [...hostile, ...whole].map((value) => required('Text', value)),
    series('Many', function* () {
      for (let at = 0; at < 12_000; at += 1) yield required('One', at);
    }),
  );
  const text1 = renderXml(tree, 'b2mml');
  t.ok((await renderXmlInTurns(tree, 'b2mml')) === text1);
  t.match(text1.slice(0, 200), /^<\?xml version="1.0" encoding="UTF-8"\?><Root xmlns="urn:wbf:b2mml:v0700"><Empty\/><Nothing\/>/);
  t.same(texts(text1, '//b:Text').slice(0, 3), ['a < b && c > "d"', "it's ]]> here", 'control \ufffd\ufffd\ufffd char']);
  t.same(texts(text1, '//b:Text').slice(hostile.length), whole, 'what looks like XML arrives as it was');
});
