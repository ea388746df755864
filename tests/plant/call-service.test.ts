/** CALL_SERVICE of a chart against a real OPC UA server: the answer of its method goes on in the chart (decisions 4.5, MTP-02). */
import t from 'tap';
import { OpcUaServer, PLANT_NAMESPACE } from '../support/opcua-server.js';
import { ownFolder } from '../support/own-folder.js';
import { Plant, SITE } from '../support/plant.js';

const server = await OpcUaServer.start({ folder: ownFolder(t) });
t.teardown(() => server.kill());
const plant = new Plant(ownFolder(t), { timeScale: 1, environment: { LINESIDE_IO__OUTPUTS: 'live' } });
t.teardown(() => plant.end());
await plant.start();
const { api } = plant;
const node = (name: string): string => `nsu=${PLANT_NAMESPACE};s=${name}`;
const call = (method: string, ...args: string[]): string =>
  `CALL_SERVICE('plc', '${node('Calculator')}', '${node(`Calculator.${method}`)}'${args.map((arg) => `, ${arg}`).join('')})`;
const phaseOf = (actionST: string, conditionST = 'TRUE'): object => ({
  parameters: [],
  variables: [{ name: 'x', type: 'REAL' }],
  steps: [{ name: 'ask', initial: true, actionST, timeout: '20s' }, { name: 'end' }],
  transitions: [{ from: 'ask', to: 'end', conditionST }],
});
const calls = async () => (await api.get('/api/v1/audit?site=demo&category=st-call-service&limit=50')).body.items;

const made = await api.post(`${SITE}/iomodules`, {
  name: 'plc',
  protocol: 'opcua',
  address: server.url,
  options: { publishingInterval: '100ms', samplingInterval: '50ms' },
  channels: [{ name: 'level', address: node('Double') }],
});
if (made.status !== 201) throw new Error(made.text);
await plant.look('the server is connected', async () => {
  const { body } = await api.get(`${SITE}/iomodules/plc`);
  return { done: body.state === 'Connected' || undefined, seen: `${body.state}: ${body.message}` };
});

t.test('MTP-02: a chart calls a method of a server with its arguments, goes on with the answer, and leaves one record', async (t) => {
  await plant.recipeOf('adds', phaseOf(`x := ${call('Add', '1.5', '2')};`, 'x = 3.5'));
  await plant.until(await plant.runBatch({ masterRecipeRef: 'adds' }), 'Complete');
  const records = await calls();
  t.equal(records.length, 1);
  t.match(records[0], { result: 'Success', details: { objectId: node('Calculator'), methodId: node('Calculator.Add'), args: [1.5, 2] } });
});

t.test('SFC-03: a method that refuses, and one that is asked with the wrong arguments, hold the phase with what the server said', async (t) => {
  for (const [name, action, because] of [
    ['refused', call('Fail'), /BadInvalidState/],
    ['wrong', call('Add', '1.5'), /takes 2 arguments, not 1/],
  ] as const) {
    await plant.recipeOf(name, phaseOf(`x := ${action};`, 'FALSE')); // a transition that is TRUE leaves the step while it still asks
    const batch = await plant.runBatch({ masterRecipeRef: name });
    await plant.until(batch, 'Held');
    t.match(JSON.stringify(await plant.batch(batch)), because, name);
    t.match(
      (await calls()).find(({ result }: { result: string }) => result !== 'Success'),
      { result: 'Rejected', details: { methodId: String } },
      name,
    );
    await plant.command(batch, 'Abort');
    await plant.until(batch, 'Aborted');
  }
});
