/** The import of module type packages over the real pipeline: what it makes, what it tells, and what it leaves alone. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type ClientRequest, request } from 'node:http';
import t from 'tap';
import { APPLIED_KINDS } from '../../../src/domains/index.js';
import { ControlModule } from '../../../src/domains/control-modules/kind.js';
import { IOModule } from '../../../src/domains/io-modules/kind.js';
import { PackageReader } from '../../../src/domains/mtp-import/package-reader.js';
import { mtpImportRoutes } from '../../../src/domains/mtp-import/routes.js';
import { Unit } from '../../../src/domains/plant/kind.js';
import { routeSet } from '../../../src/platform/http/route.js';
import type { Client } from '../../support/gateway.js';
import { manifest } from '../../support/manifest.js';
import { amlOf, DOSING } from '../../support/mtp-package.js';
import { startPlantGateway } from '../../support/plant-gateway.js';
import { zipOf } from '../../support/zip.js';

const plant = await startPlantGateway({ more: ({ store, clock }) => [routeSet(mtpImportRoutes, { store, clock, kinds: APPLIED_KINDS, packages: new PackageReader() })] });
t.teardown(() => plant.stop());
const admin = await plant.as('admin');
const engineer = await plant.as('engineer');
t.equal((await admin.post('/api/v1/apply', manifest('Site', 'north', {}, {}))).status, 200);

const base64 = (bytes: Uint8Array | string): string => Buffer.from(bytes as Uint8Array).toString('base64');
const REAL = readFileSync('tests/fixtures/mtp/PiMAd-core.0-0-1.aml');
const send = (name: string, content: Uint8Array | string, more: object = {}, who = admin) =>
  who.post('/api/v1/import/mtp', { site: 'north', name, fileName: 'module.aml', content: base64(content), ...more });

interface Row {
  readonly severity: string;
  readonly path: string;
  readonly message: string;
}
const rowsAt = (report: readonly Row[], path: RegExp): readonly Row[] => report.filter((row) => path.test(row.path));

t.test('ROUTE-05 Q-CHANGE-11: a package of the field is read; a dry run, which it is by itself, stores nothing and tells the same', async (t) => {
  const version = plant.store.resourceVersion;
  const records = plant.audits.length;
  const dry = await send('band', REAL);
  t.match(dry, { status: 200, body: { dryRun: true, module: { name: 'PiMAd-core:0.0.1', version: '0' } } });
  t.same(dry.body.services, [
    {
      name: 'HandInHand',
      procedures: [
        { id: 3, name: 'Allegro' },
        { id: 2, name: 'Forte' },
        { id: 1, name: 'Piano' },
      ],
    },
    {
      name: 'AtomicLove',
      procedures: [
        { id: 3, name: 'Allegro' },
        { id: 2, name: 'Forte' },
        { id: 1, name: 'Piano' },
      ],
    },
  ]);
  t.equal(plant.store.resourceVersion, version);
  t.equal(plant.audits.length, records);

  const real = await send('band', REAL, { dryRun: false });
  t.equal(real.status, 200, real.text);
  t.same({ ...real.body, dryRun: true }, dry.body, 'the dry run has told the same');
  t.same(real.body.created, [
    { kind: 'Unit', name: 'band' },
    { kind: 'IOModule', name: 'band' },
    { kind: 'ControlModuleTemplate', name: 'mtp-servicecontrol' },
    { kind: 'ControlModule', name: 'band-handinhand' },
    { kind: 'ControlModule', name: 'band-atomiclove' },
  ]);
  const made = plant.audits.slice(records);
  t.equal(made.length, 5, 'one record for each thing that was made');
  t.match(made[1], { action: 'Create', target: { kind: 'IOModule', name: 'band' }, details: { via: 'import/mtp', fileName: 'module.aml', module: 'PiMAd-core:0.0.1' } });

  const module = plant.store.get(IOModule, 'north', 'band');
  t.match(module?.spec, { protocol: 'opcua', address: 'opc.tcp://127.0.0.1:4840', enabled: false });
  const channel = module?.spec.channels.find(({ name }) => name === 'HandInHand.StateCur');
  t.match(channel, {
    address: 'nsu=http://www.PiMAd-core.com/instances;s=PiMAd-core.TestControlEngine.MyFirstTestControlEngine.Beatsteaks.HandInHand.StateCur',
    direction: 'input',
    dataType: 'int',
  });
  t.match(module?.spec.services?.[0], { name: 'HandInHand', variables: { StateCur: 'HandInHand.StateCur', CommandEn: 'HandInHand.CommandEn', CommandOp: 'HandInHand.CommandOp' } });
  t.notOk(
    real.body.tags.some((tag: string) => /\.(Command|Procedure)(Op|Ext)$/.test(tag)),
    'a command word is no tag: MTP_COMMAND writes it, and nobody past it',
  );
  t.ok(real.body.tags.includes('band-handinhand.StateCur'));
});

t.test('Q-CHANGE-11: what is not taken as it stands is told by its path, in every place', async (t) => {
  const { body } = await send('told', REAL);
  const report = body.report as readonly Row[];
  t.match(rowsAt(report, /Services|HandInHand@RefID/)[0], { severity: 'warning', message: /refid7 names no ServiceControl: the one of the same name is taken/ });
  const extra = await send(
    'told',
    amlOf({
      ...DOSING,
      inModule: '<InternalElement Name="Pictures" RefBaseSystemUnitPath="MTPHMISUCLib/HMISet"><InternalElement Name="P1"/></InternalElement>',
      behind: '<SystemUnitClassLib Name="Classes"/><ExternalReference Path="../../etc/passwd" Alias="a"/>',
    }),
  );
  t.match(rowsAt(extra.body.report, /Pictures$/), [{ severity: 'info', message: 'class MTPHMISUCLib/HMISet is not imported, with 1 elements in it' }]);
  t.match(rowsAt(extra.body.report, /^Classes$/), [{ severity: 'info' }]);
  t.match(rowsAt(extra.body.report, /passwd/), [{ severity: 'warning', message: /not opened/ }]);
  t.match(rowsAt(report, /InstanceList\/AllegroHealthState$/), [{ message: /called AllegroHealthState-2/ }, { severity: 'info', message: /becomes no control module/ }, {}]);
});

t.test('Q-CHANGE-11: indicators, operation elements, active elements and services become tags as the standard has them', async (t) => {
  const { status, body, text } = await send('dosing', amlOf(DOSING), { dryRun: false });
  t.equal(status, 200, text);
  const tagsOf = (name: string) => plant.store.get(ControlModule, 'north', name)?.spec.tags;
  t.match(tagsOf('dosing-level'), [{ name: 'V', dataType: 'Float', accessLevel: 'read', channel: 'dosing:Level.V', engMin: '0', engMax: '120', engUnits: 'L' }]);
  t.match(tagsOf('dosing-full'), [{ name: 'V', dataType: 'Boolean', trueLabel: 'full', falseLabel: 'not full' }]);
  t.match(tagsOf('dosing-batches'), [{ name: 'V', dataType: 'Integer' }]);
  t.match(rowsAt(body.report, /Batches@VUnit/), [{ severity: 'warning', message: /4711 is not known/ }]);
  t.match(tagsOf('dosing-setpoint'), [{ name: 'VMan', accessLevel: 'readwrite', engMin: '5', engMax: '40' }], 'a value that is written has the bounds of what is accepted');
  t.match(
    tagsOf('dosing-inlet')?.map(({ name, accessLevel }) => [name, accessLevel]),
    [
      ['OpenFbk', 'read'],
      ['CloseFbk', 'read'],
      ['Ctrl', 'read'],
      ['OpenOp', 'readwrite'],
    ],
  );
  const module = plant.store.get(IOModule, 'north', 'dosing');
  const channelOf = (name: string) => module?.spec.channels.find((channel) => channel.name === name);
  t.match(channelOf('Setpoint.VMan'), { direction: 'output', readbackAddress: 'nsu=http://example.org/dosing;s=Plc.Setpoint.VMan' });
  t.match(channelOf('Inlet.OpenOp'), { direction: 'output', readbackAddress: '' }, 'the module takes back what is pressed: it is not compared');
  t.match(module?.spec.services, [
    {
      name: 'Dose',
      procedures: [
        { id: 1, name: 'Slow', isDefault: true, parameters: ['Amount'], reportValues: ['Dosed'] },
        { id: 2, name: 'Fast', isSelfCompleting: true },
      ],
    },
  ]);
  t.match(plant.store.get(Unit, 'north', 'dosing')?.spec.description, 'process module Dosing, version 1.2.0');
  const { body: read } = await engineer.get('/api/v1/sites/north/iomodules/dosing');
  t.equal(read.services[0].name, 'Dose');
  t.equal(
    (await admin.put('/api/v1/sites/north/iomodules/dosing', { ...read, channels: read.channels.filter((each: { name: string }) => each.name !== 'Dose.StateCur') })).status,
    400,
    'a service stands on channels that there are',
  );
});

t.test('Q-CHANGE-11: a name that exists is told and not overwritten; an I/O module that is named gets what it lacks', async (t) => {
  const before = plant.store.get(ControlModule, 'north', 'dosing-level');
  const again = await send('dosing', amlOf({ ...DOSING, version: '2', endpoint: 'opc.tcp://plc-2:4840' }), { dryRun: false });
  t.match(again, { status: 200, body: { created: [] } });
  t.equal(plant.store.get(ControlModule, 'north', 'dosing-level'), before);
  t.match(rowsAt(again.body.report, /InstanceList\/Level$/), [{ severity: 'warning', message: /dosing-level exists: it is not overwritten/ }]);
  t.match(rowsAt(again.body.report, /^Services\/Dose$/), [{ message: /has a service Dose: it is not overwritten/ }]);
  t.match(rowsAt(again.body.report, /@Endpoint$/), [{ message: /keeps its address/ }]);

  const more = { ...DOSING, services: [], elements: [{ name: 'Weight', className: 'IndicatorElement/AnaView', nodes: [{ name: 'V', access: 1 }] }] } as const;
  const extended = await send('scale', amlOf(more), { dryRun: false, ioModule: 'dosing' });
  t.match(extended.body.created, [
    { kind: 'Unit', name: 'scale' },
    { kind: 'ControlModule', name: 'scale-weight' },
  ]);
  t.ok(plant.store.get(IOModule, 'north', 'dosing')?.spec.channels.some(({ name }) => name === 'Weight.V'));
  t.ok(
    plant.store.get(IOModule, 'north', 'dosing')?.spec.services?.some(({ name }) => name === 'Dose'),
    'it keeps its services',
  );
});

t.test('Q-CHANGE-11: what wants a look is a warning: a connection that nobody has looked at, an address that is kept', async (t) => {
  const made = await send('looked', amlOf(DOSING));
  t.match(
    (made.body.report as readonly Row[]).filter(({ message }) => /look at its address/.test(message)),
    [{ severity: 'warning' }],
  );
  const kept = await send('dosing', amlOf({ ...DOSING, endpoint: 'opc.tcp://plc-2:4840' }));
  t.match(rowsAt(kept.body.report, /@Endpoint$/), [{ severity: 'warning', message: /keeps its address/ }]);
});

t.test('ROUTE-05 Q-CHANGE-07: what an import makes needs the permission of its own route, as with apply; a site out of scope is not looked into', async (t) => {
  const operator = await plant.as('operator');
  const version = plant.store.resourceVersion;
  t.match(await send('mine', amlOf(DOSING), { dryRun: false }, engineer), { status: 403, body: { code: 'action_missing', action: 'iomodule:create' } });
  t.match(await send('mine', amlOf(DOSING), { dryRun: false, site: 'nowhere' }), { status: 404 });
  t.match(await send('Not A Name', amlOf(DOSING)), { status: 400, body: { code: 'invalid_name', field: 'name' } });
  t.equal((await send('mine', amlOf(DOSING), {}, operator)).status, 403);
  t.equal(plant.store.resourceVersion, version);
});

t.test('G22: oddities of the field are read: archives with back slashes, a manifest below, UTF-16, byte order marks, CAEX 3.0, parts that are not there', async (t) => {
  const aml = amlOf(DOSING);
  const good = async (what: string, content: Uint8Array | string) =>
    t.match(await send('odd', content), { status: 200, body: { module: { name: 'Dosing' }, services: [{ name: 'Dose' }] } }, what);
  await good(
    'a manifest at the top',
    zipOf([
      { name: 'manifest.aml', bytes: aml },
      { name: 'pictures/p.png', bytes: 'x' },
    ]),
  );
  await good('back slashes', zipOf([{ name: 'mtp\\manifest.aml', bytes: aml }]));
  await good('another name, in a folder', zipOf([{ name: 'a/b/Dosing.AML', bytes: aml }]));
  await good(
    'a further file beside it',
    zipOf([
      { name: 'manifest.aml', bytes: aml },
      { name: 'libs/Lib.aml', bytes: '<CAEXFile/>' },
    ]),
  );
  await good('UTF-16, little end first', Buffer.from(`\ufeff${aml.replace('utf-8', 'utf-16')}`, 'utf16le'));
  await good('UTF-16, big end first', Buffer.from(`\ufeff${aml.replace('utf-8', 'utf-16')}`, 'utf16le').swap16());
  await good('a byte order mark', `\ufeff${aml}`);
  await good('converted, and still says UTF-16', aml.replace('utf-8', 'utf-16'));
  await good('CAEX 3.0', amlOf({ ...DOSING, schemaVersion: '3.0' }));
  const { body } = await send('odd', amlOf({ ...DOSING, services: [], elements: [], version: '' }));
  t.match(body, { module: { version: '' }, services: [], tags: [] });
});

t.test('G22: of the bodies of packages few are held at a time, one of a caller; others are refused before their body is read', async (t) => {
  /** Announces a body and sends none of it. @returns the answer, which comes only where the body is not waited for. */
  const announce = (who: Pick<Client, 'token'>): { readonly sent: ClientRequest; readonly answer: Promise<number> } => {
    const sent = request(`${plant.url}/api/v1/import/mtp`, {
      method: 'POST',
      agent: false,
      headers: { authorization: `Bearer ${who.token}`, 'x-dcs-nonce': randomUUID(), 'content-type': 'application/json', 'content-length': '12000000' },
    });
    const answer = new Promise<number>((resolve) => sent.on('response', ({ statusCode = 0 }) => resolve(statusCode)));
    sent.on('error', () => undefined); // it is cut off below
    sent.flushHeaders();
    return { sent, answer };
  };
  const both = [announce(admin), announce(admin)];
  t.equal(await Promise.race(both.map(({ answer }) => answer)), 503, 'the second one of a caller');
  t.match(await send('busy', amlOf(DOSING)), { status: 503, body: { code: 'import_busy' } });
  t.match(
    await send('free', amlOf(DOSING), {}, engineer),
    { status: 403, body: { code: 'action_missing' } },
    'another caller has a turn of his own: his package is read, and judged',
  );
  for (const { sent } of both) sent.destroy();
});
