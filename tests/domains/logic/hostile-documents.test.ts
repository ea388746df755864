/** Whatever is sent as text, network or chart, the gateway answers it with a verdict: never an internal error, never a silence. */
import t from 'tap';
import fc, { anyCharacter } from '../../support/fuzz.js';
import { aMutation, aTokenSoup } from '../../runtime/language/arbitrary.js';
import { aNetworkDocument, aProceduralChart, aShape, aStepName, connectionsOf } from '../../runtime/language/document-arbitrary.js';
import { aNetwork } from '../../runtime/language/network-arbitrary.js';
import { startPlantGateway } from '../../support/plant-gateway.js';
import { at } from '../../support/at.js';

const plant = await startPlantGateway();
t.teardown(() => plant.stop());
const engineer = await plant.as('engineer');
await engineer.post('/api/v1/sites', { name: 'north' });
await engineer.post('/api/v1/sites/north/units', { name: 'r1' });

const RUNS = Number(process.env.TEST_RUNS ?? 60);
/** Of processor time, of this process with the gateway in it: other tests on the machine do not use it up. */
const LIMIT_MS = 10_000;

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const aText = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 200 }),
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  aTokenSoup,
  aMutation,
);
const aSentNetwork = fc.oneof(
  aNetwork,
  aNetworkDocument.map(({ blocks, wires }) => ({ blocks, connections: connectionsOf(blocks, wires) })),
);
const aPhaseChart = fc.record({ steps: fc.array(fc.record({ name: aStepName, initial: fc.boolean(), actionST: aText }), { maxLength: 3 }), ...aShape });

/** Status of the answer; anything but a verdict on the document is a fault. */
async function verdict(path: string, body: unknown): Promise<number> {
  const { status, text } = await engineer.post(path, body as object);
  if (![200, 201, 400, 404, 409, 422].includes(status)) throw new Error(`${path} answers ${status} ${text} to ${JSON.stringify(body).slice(0, 1000)}`);
  return status;
}

t.test('LOGIC-03, SFC-18, Q-ERR-07: random texts, networks and charts are answered with 200, 400, 409 or 422', async (t) => {
  const seen = new Map<number, number>();
  const send = async (path: string, body: unknown): Promise<void> => {
    const status = await verdict(path, body);
    seen.set(status, (seen.get(status) ?? 0) + 1);
  };
  await fc.assert(
    fc.asyncProperty(aText, aSentNetwork, aPhaseChart, aProceduralChart, async (text, { blocks, connections }, phase, procedural) => {
      plant.clock.advance(1000); // the limit of requests is one of time
      await send('/api/v1/control-logic/to-network', { st: text });
      await send('/api/v1/validate/st', { source: text });
      await send('/api/v1/validate/st', { source: text, mode: 'expression' });
      await send('/api/v1/control-logic/to-st', { name: 'n', blocks, dataConnections: connections });
      await send('/api/v1/validate/sfc-chart', phase);
      await send('/api/v1/validate/sfc-chart', { ...procedural, chartKind: 'procedural' });
      await send('/api/v1/fbblocktypes', { name: 'fuzz', blocks, connections });
      await send('/api/v1/fbblocktypes', { name: 'fuzz', structuredText: text });
      await send('/api/v1/sites/north/fbnetworks', { metadata: { name: 'fuzz' }, spec: { unitRef: 'r1', scanInterval: '1s', blocks, connections } });
    }),
    { numRuns: RUNS },
  );
  t.ok((seen.get(200) ?? 0) > 10 && (seen.get(400) ?? 0) > 10 && (seen.get(422) ?? 0) > 10, JSON.stringify([...seen]));
});

t.test('LIMIT: bodies of nearly a megabyte are answered in bounded time', async (t) => {
  const names = (count: number): string[] => Array.from({ length: count }, (_, n) => `b${n}`);
  const blocks = [...names(7000).map((name) => ({ name, type: 'ADD' })), { name: 'source', type: 'TO_INT' }];
  const dataConnections = names(7000).map((destBlock, n) => ({ sourceBlock: n === 6999 ? 'source' : `b${n + 1}`, sourcePort: 'OUT', destBlock, destPort: 'IN1' }));
  const steps = names(12_000).map((name, n) => ({ name, initial: n === 0 }));
  const transitions = steps.slice(1).map(({ name }, n) => ({ from: at(steps, n).name, to: name }));
  const rows: readonly (readonly [string, object, number])[] = [
    ['/api/v1/control-logic/to-st', { blocks, dataConnections }, 200],
    ['/api/v1/control-logic/to-network', { st: `PROGRAM p VAR x : BOOL; END_VAR ${'x := NOT x; '.repeat(80_000)} END_PROGRAM` }, 422],
    ['/api/v1/validate/st', { source: 'x := 1; '.repeat(125_000) }, 200],
    ['/api/v1/validate/st', { source: `x := ${'('.repeat(900_000)}`, mode: 'program' }, 400],
    ['/api/v1/validate/sfc-chart', { steps, transitions: transitions.toReversed() }, 200],
  ];
  for (const [path, body, wanted] of rows) {
    const before = processorMs();
    const status = await verdict(path, body);
    const spent = processorMs() - before;
    t.equal(status, wanted, path);
    t.ok(spent < LIMIT_MS, `${path} took ${Math.round(spent)} ms`);
  }
  const raw = `${'{"chartKind":"procedural","steps":[{"name":"a","subChart":'.repeat(10_000)}{}${'}]}'.repeat(10_000)}`;
  t.match(await engineer.post('/api/v1/validate/sfc-chart', undefined, { raw }), { status: 400, body: { code: 'invalid_json' } }, '10,000 levels');
});
