/** While nothing can be written the exception action of an alarm is carried out, and is on record afterwards (ADR 0026). */
import t from 'tap';
import { canLimitFiles, limitFiles } from '../support/disk-limit.js';
import { SITE, startPlant } from '../support/plant.js';

const writable = (is: boolean): void => limitFiles(process.pid, is ? undefined : 0);

interface Told {
  readonly result: string;
  readonly actorType: string;
  readonly correlationID: string;
  readonly details: { readonly command?: string; readonly happenedAt?: string };
}

t.test('D-C-09: the reactor that is filled while nothing can be written is held at its limit', async (t) => {
  if (!canLimitFiles(t)) return;
  process.on('SIGXFSZ', () => undefined); // the write fails with EFBIG, as the command line of the appliance has it
  const plant = await startPlant({ timeScale: 1 });
  t.teardown(async () => {
    writable(true);
    await plant.end();
  });
  // biome-ignore lint/suspicious/noExplicitAny: a value of any type
  const value = async (tag: string): Promise<any> => (await plant.api.get(`${SITE}/units/rx101/tags/${tag}`)).body.value;
  const valveIs = (wanted: boolean) =>
    plant.look(`the valve is ${wanted ? 'open' : 'closed'}`, async () => {
      const seen = await value('xv101.out');
      return { done: seen === wanted || undefined, seen: `${seen}, level ${await value('li101.pv')}` };
    });
  const batch = await plant.runBatch();
  await valveIs(true);
  const limit = (await value('li101.pv')) + 6; // percent; the charge is more than twice as much
  const watch = { sourceKind: 'ControlModule', sourceName: 'li101', conditionType: 'TagHigh', tagName: 'pv', threshold: String(limit), exceptionAction: 'Hold' };
  const defined = await plant.api.post(`${SITE}/alarmdefinitions`, { name: 'too-full', type: 'Process', severity: 'High', message: 'too full', ...watch });
  t.equal(defined.status, 201, defined.text);
  writable(false);
  t.equal((await plant.api.post(`${SITE}/mode`, { kind: 'ControlModule', name: 'tic101', mode: 'Manual' })).status, 503);

  await valveIs(false);
  t.ok((await value('li101.pv')) < limit + 4, 'long before the charge is complete');
  writable(true);
  await plant.until(batch, 'Held');
  const { items } = (await plant.api.get('/api/v1/audit?category=command&limit=100')).body as { items: Told[] };
  const late = items.filter(({ result, actorType, details }) => result === 'Accepted' && actorType === 'component' && details.happenedAt !== undefined);
  t.match(late, [{ details: { command: 'Hold' } }], 'the command of the alarm, with its time');
  t.equal(items.filter((item) => item.correlationID === late[0]?.correlationID && item.result !== 'Accepted').length, 1, 'and its verdict');
  await plant.look('the alarm is raised', async () => {
    const alarms = (await plant.api.get(`${SITE}/alarms`)).body as { definitionRef: string }[];
    return { done: alarms.some(({ definitionRef }) => definitionRef === 'too-full') || undefined, seen: JSON.stringify(alarms.map(({ definitionRef }) => definitionRef)) };
  });
});
