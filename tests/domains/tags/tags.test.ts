import t from 'tap';
import { decodeWrite } from '../../../src/domains/tags/values.js';
import { QUALITY } from '../../../runtime/vocabulary/quality.js';
import { ControlModule } from '../../../src/domains/control-modules/kind.js';
import { SocketClient } from '../../platform/stream/clients.js';
import { ScriptedClock } from '../../platform/stream/scripted.js';
import type { LedgerTransaction } from '../../../src/platform/ledger/protocol.js';
import { type Plant, startPlant } from './plant.js';
import { at } from '../../support/at.js';

const UNIT_TAGS = '/api/v1/sites/north/units/rx101/tags';
const MODULES = '/api/v1/sites/north/controlmodules';

t.test('TAG-01 TAG-02 TAG-03 TAG-04 TAG-05 TAG-06 TAG-07 TAG-08 TAG-15: descriptors', async (t) => {
  const plant = await startPlant();
  t.teardown(() => plant.stop());
  const { status, body } = await plant.request('GET', '/api/v1/sites/north/tags');
  t.equal(status, 200);
  t.equal(body.length, 23);
  const at = (address: string) => body.find((tag: { address: string }) => tag.address === address);
  t.same(at('v101.sp'), {
    name: 'sp',
    address: 'v101.sp',
    dataType: 'Float',
    accessLevel: 'readwrite',
    controlModule: 'v101',
    moduleType: 'valve',
    unit: 'rx101',
    equipmentModule: 'dosing',
    engUnits: 'degC',
    engMin: '0',
    engMax: '120',
    role: 'setpoint',
    trueLabel: '',
    falseLabel: '',
  });
  t.match(at('io-1:4x00001/2'), { name: 'raw', controlModule: 'v101' }, 'a device tag has its protocol address behind its I/O module');
  t.match(at('io-1:4x00003'), { name: 'raw', controlModule: 'v102', equipmentModule: '' }, 'the instance overrides the template');
  t.match(at('mix.target'), { accessLevel: 'readwrite', controlModule: '', dataType: 'Float' });
  t.match(at('mix.level'), { accessLevel: 'read' });
  const addresses = body.map((tag: { address: string }) => tag.address);
  t.same(addresses, [...addresses].sort());
  t.equal((await plant.request('GET', '/api/v1/sites/north/tags?unit=away')).body.length, 7);
  t.equal((await plant.request('GET', '/api/v1/sites/north/tags?moduleType=valve')).body.length, 21);
  t.same((await plant.request('GET', '/api/v1/sites/north/tags?moduleType=motor')).body, []);
  type Tags = readonly { readonly name: string; readonly role: string; readonly unit: string }[];
  const tagsOf = async (query: string, path = 'tags'): Promise<Tags> => (await plant.request('GET', `/api/v1/sites/north/${path}?${query}`)).body as Tags;
  const all = body as Tags;
  const setpoints = await tagsOf('role=setpoint');
  t.ok(setpoints.length > 0 && setpoints.length < all.length);
  t.same(
    setpoints,
    all.filter(({ role }) => role === 'setpoint'),
  );
  const named = all.filter(({ name }) => /pv|raw/.test(name));
  for (const query of ['name=PV,raw', 'name=pv&name=raw', 'name=%20pv%20,,Raw']) t.same(await tagsOf(query), named, query);
  t.same(
    (await tagsOf('name=pv&unit=away', 'tags/browse')).map(({ name }) => name),
    named.filter(({ name, unit }) => name === 'pv' && unit === 'away').map(({ name }) => name),
  );
  t.same((await tagsOf('name=,')).length, all.length, 'no part is no filter');
  const { headers } = await plant.request('GET', '/api/v1/sites/north/tags?name=sp&name=pv&role=setpoint&limit=1');
  t.match(new Headers(headers).get('link'), /name=sp&name=pv&?[^>]*/, 'the next page is of the same question');
  t.match(new Headers(headers).get('link'), /role=setpoint/);
  t.same((await plant.request('GET', '/api/v1/sites/south/tags')).body, []);
});

t.test('TAG-09 TAG-10 TAG-11 TAG-14 TAG-16 TAG-17 TAG-18 TAG-20: live values', async (t) => {
  const plant = await startPlant();
  t.teardown(() => plant.stop());
  plant.link.set('v101.pv', 42.5);
  plant.link.set('v101.text', 'Grün');
  plant.link.set('v101.delay', 90_000);
  plant.link.set('v101.raw', 7, Date.UTC(2026, 0, 31), QUALITY.Bad);
  plant.link.set('v102.pv', Number.NaN, Date.UTC(2026, 0, 31), QUALITY.Bad);
  const browse = await plant.request('GET', '/api/v1/sites/north/tags/browse');
  const at = (address: string) => browse.body.find((tag: { address: string }) => tag.address === address);
  t.match(at('v101.pv'), { value: 42.5, quality: 'Good', timestamp: '2026-01-31T00:00:00.000Z', engUnits: '' });
  t.match(at('v900.pv'), { value: null, quality: 'Uncertain', timestamp: null }, 'an offline runtime leaves them empty');
  const unit = await plant.request('GET', UNIT_TAGS);
  t.equal(unit.body.length, 16);
  t.match((await plant.request('GET', `${UNIT_TAGS}/v101.text`)).body, { value: 'Grün', quality: 'Good' });
  t.match((await plant.request('GET', `${UNIT_TAGS}/v101.delay`)).body, { value: 'T#1m30s' });
  t.match((await plant.request('GET', `${UNIT_TAGS}/io-1:4x00001/2`)).body, { value: 7, quality: 'Bad', name: 'raw' }, 'slashes belong to the address');
  t.match((await plant.request('GET', `${UNIT_TAGS}/io-1%3A4x00001%2F2`)).body, { name: 'raw' });
  t.match((await plant.request('GET', `${UNIT_TAGS}/v102.pv`)).body, { value: null, quality: 'Bad' }, 'NaN has no JSON form');
  t.equal((await plant.request('GET', `${MODULES}/v101/tags`)).body.length, 7);
  t.match((await plant.request('GET', `${MODULES}/v101/tags/raw`)).body, { address: 'io-1:4x00001/2', value: 7 });
  for (const [route, code] of [
    [`${UNIT_TAGS}/v101.nope`, 'unknown_tag'],
    [`${MODULES}/v101/tags/nope`, 'unknown_tag'],
    [`${MODULES}/nope/tags`, 'not_found'],
    ['/api/v1/sites/north/units/v101/tags/v101.pv', 'not_found'],
    ['/api/v1/sites/north/units/nope/tags', 'not_found'],
  ] as const) {
    t.match(await plant.request('GET', route), { status: 404, body: { code } }, route);
  }
  for (const route of ['/api/v1/sites/north/units/away/tags', '/api/v1/sites/north/units/away/tags/v900.pv', `${MODULES}/v900/tags`]) {
    t.match(await plant.request('GET', route), { status: 503, body: { code: 'runtime_unreachable' } }, route);
  }
});

t.test('TAG-19 TAG-21 TAG-29 MODE-07: a write in Manual proceeds and is on record', async (t) => {
  const plant = await startPlant();
  t.teardown(() => plant.stop());
  t.match(await plant.request('POST', `${UNIT_TAGS}/v101.sp`, { body: { value: '42.5' } }), { status: 200, body: { ok: true, address: 'v101.sp', message: 'written' } });
  t.match(await plant.request('POST', `${MODULES}/v101/tags/raw`, { body: { value: 5 } }), { status: 200, body: { ok: true, address: 'io-1:4x00001/2' } });
  t.same(plant.link.written, [
    { address: 'v101.sp', value: 42.5 },
    { address: 'v101.raw', value: 5 },
  ]);
  t.match(plant.audits.slice(0, 2), [
    {
      action: 'Update',
      category: 'tag-write',
      target: { kind: 'Tag', name: 'v101.sp', site: 'north' },
      result: 'Accepted',
      before: 20,
      after: '42.5',
      details: { unit: 'rx101', controlModule: 'v101' },
    },
    { action: 'Update', category: 'tag-write', result: 'Success', before: 20, after: '42.5' },
  ]);
  t.equal(at(plant.audits, 0).correlationID, at(plant.audits, 1).correlationID);
  t.match(plant.audits[3], { result: 'Success', details: { deviceAddress: true } });
});

t.test('TAG-23 TAG-24 TAG-22 TAG-29 MODE-02 MODE-06: refusals of the gateway, in their order, each on record', async (t) => {
  const plant = await startPlant();
  t.teardown(() => plant.stop());
  const rows: [string, unknown, number, string, string][] = [
    [`${UNIT_TAGS}/v102.sp`, { value: 1 }, 403, 'automatic_mode', 'AutomaticMode'],
    [`${UNIT_TAGS}/v102.pv`, { value: 'x' }, 403, 'automatic_mode', 'AutomaticMode'],
    [`${MODULES}/v102/tags/raw`, { value: 1 }, 403, 'automatic_mode', 'AutomaticMode'],
    [`${UNIT_TAGS}/v101.pv`, { value: 'x' }, 403, 'read_only_tag', 'ReadOnlyTag'],
    [`${UNIT_TAGS}/mix.level`, { value: 1 }, 403, 'read_only_tag', 'ReadOnlyTag'],
    [`${UNIT_TAGS}/v101.cmd`, { value: 'yes' }, 400, 'invalid_value', 'InvalidValue'],
    [`${UNIT_TAGS}/v101.sp`, { value: 120.5 }, 400, 'out_of_range', 'OutOfRange'],
    [`${MODULES}/v101/tags/sp`, { value: -1 }, 400, 'out_of_range', 'OutOfRange'],
    [`${UNIT_TAGS}/v101.none`, { value: 1 }, 404, 'unknown_tag', 'UnknownTag'],
    [`${UNIT_TAGS}/v101.sp`, {}, 400, 'missing_field', 'MissingField'],
    [`${UNIT_TAGS}/v101.sp`, { value: 1, force: true }, 400, 'unknown_field', 'UnknownField'],
  ];
  for (const [route, body, status, code, reason] of rows) {
    plant.audits.length = 0;
    t.match(await plant.request('POST', route, { body }), { status, body: { code } }, `${route} ${code}`);
    t.equal(plant.audits.length, 1, `${route}: one record`);
    t.match(plant.audits[0], { action: 'Update', category: 'tag-write', result: 'Rejected', reason, target: { kind: 'Tag' } });
  }
  plant.audits.length = 0;
  t.match(await plant.request('POST', `${UNIT_TAGS}/v101.sp`, { token: 'reader', body: { value: 1 } }), { status: 403, body: { code: 'action_missing', action: 'tag:write' } });
  t.match(await plant.request('POST', `${UNIT_TAGS}/v101.sp`, { token: 'south', body: { value: 1 } }), { status: 403, body: { code: 'site_scope' } });
  t.match(
    plant.audits.map(({ reason }) => reason),
    ['ActionMissing', 'SiteScope'],
  );
  t.same(plant.link.written, []);
});

t.test('TAG-25 TAG-26: the range refusal names tag and range', async (t) => {
  const plant = await startPlant();
  t.teardown(() => plant.stop());
  const refused = { status: 400, body: { code: 'out_of_range', field: 'value', tag: 'v101.sp', engMin: 0, engMax: 120, error: /140.*0 to 120.*v101\.sp/ } };
  t.match(await plant.request('POST', `${UNIT_TAGS}/v101.sp`, { body: { value: 140 } }), refused);
  t.match(await plant.request('POST', `${MODULES}/v101/tags/sp`, { body: { value: '140' } }), refused, 'on the route of its module');
  const socket = await SocketClient.open(plant.url);
  t.teardown(() => socket.close());
  const { status: _status, body } = refused;
  const frame = await socket.ask({ type: 'write', requestId: 'r', site: 'north', unit: 'rx101', address: 'v101.sp', value: 140 });
  t.match(frame, { type: 'error', requestId: 'r', code: body.code, field: 'value', tag: 'v101.sp', message: body.error }, 'and in a write frame');
  t.same(plant.link.written, []);
});

/** A value as it stands in the body, code and reason of its refusal. */
const HOSTILE: readonly [address: string, json: string, code: string][] = [
  ['v101.sp', '1e400', 'invalid_value'],
  ['v101.sp', '-1e400', 'invalid_value'],
  ['v101.sp', '"NaN"', 'invalid_value'],
  ['v101.sp', '"Infinity"', 'invalid_value'],
  ['v101.sp', '"1e400"', 'invalid_value'],
  ['v101.sp', '"0x10"', 'invalid_value'],
  ['v101.sp', '"1 000"', 'invalid_value'],
  ['v101.sp', `"${'0'.repeat(64)}1"`, 'invalid_value'],
  ['v101.sp', 'null', 'invalid_value'],
  ['v101.sp', '{"$ne": 1}', 'invalid_value'],
  ['v101.sp', '120.00000000000001', 'out_of_range'],
  ['v101.sp', '-5e-324', 'out_of_range'],
  ['v101.count', '1e3.5', 'json'],
  ['v101.count', '0.5', 'invalid_value'],
  ['v101.count', '1e400', 'invalid_value'],
  ['v101.count', '9007199254740993', 'invalid_value'],
  ['v101.count', '"9223372036854775808"', 'invalid_value'],
  ['v101.count', '"1e3"', 'invalid_value'],
  ['v101.cmd', '2', 'invalid_value'],
  ['v101.cmd', '"TRUE"', 'invalid_value'],
  ['v101.cmd', '[true]', 'invalid_value'],
  ['v101.delay', '5', 'invalid_value'],
  ['v101.delay', '"T#5x"', 'invalid_value'],
  ['v101.delay', `"T#${'9'.repeat(30)}d"`, 'invalid_value'],
  ['v101.text', '7', 'invalid_value'],
  ['v101.text', `"${'ü'.repeat(4097)}"`, 'invalid_value'],
];

t.test('TAG-25 TAG-29 Q-TAG-06: hostile values over REST and as frames: refused with field and need, each on record, and nothing is written', async (t) => {
  const plant = await startPlant();
  t.teardown(() => plant.stop());
  const socket = await SocketClient.open(plant.url);
  t.teardown(() => socket.close());
  const post = async (address: string, json: string) => {
    const headers = { Authorization: 'Bearer all', 'Content-Type': 'application/json', 'X-DCS-Nonce': `h-${Math.random()}` };
    const response = await fetch(`${plant.url}${UNIT_TAGS}/${address}`, { method: 'POST', headers, body: `{"value": ${json}}` });
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  for (const [address, json, code] of HOSTILE) {
    plant.audits.length = 0;
    const named = `${address} ${json.slice(0, 40)}`;
    if (code === 'json') {
      t.match(await post(address, json), { status: 400, body: { code: 'invalid_json', field: 'body' } }, named);
      t.equal(plant.audits.length, 1, `${named}: one record`);
      continue;
    }
    t.match(await post(address, json), { status: 400, body: { code, field: 'value', tag: address, error: /./ } }, named);
    t.match(
      await socket.ask(`{"type":"write","requestId":"r","site":"north","unit":"rx101","address":"${address}","value":${json}}`),
      { type: 'error', code, field: 'value' },
      `${named} in a frame`,
    );
    t.match(
      plant.audits.map(({ result, reason }) => [result, reason]),
      [1, 2].map(() => ['Rejected', code === 'out_of_range' ? 'OutOfRange' : 'InvalidValue']),
      `${named}: each is on record`,
    );
    t.ok(JSON.stringify(plant.audits).length < 12_000, 'and the record stays short');
  }
  const deep = await socket.ask(`{"type":"write","requestId":"deep","site":"north","unit":"rx101","address":"v101.sp","value":${'['.repeat(30_000)}${']'.repeat(30_000)}}`);
  t.match(deep, { type: 'error', requestId: 'deep', code: 'invalid_value' });
  t.match(plant.audits.at(-1), { result: 'Rejected', reason: 'InvalidValue', after: '(array)' });
  t.match(await socket.ask({ type: 'write', requestId: 'none', site: 'north', unit: 'rx101', address: 'v101.sp' }), { type: 'error', code: 'missing_field', field: 'value' });
  t.match(plant.audits.at(-1), { result: 'Rejected', reason: 'MissingField', target: { name: 'v101.sp' } });
  t.match(await socket.ask({ type: 'write', requestId: 'none', site: 'north', unit: 'rx101', address: 'v102.sp' }), { code: 'automatic_mode' }, 'mode comes before the value');
  t.same(plant.link.written, []);
  t.ok(plant.store.accepting, 'no value brings the ledger to refuse');
  await plant.store.recorded;
});

t.test('TAG-25 Q-TAG-01: what lies on a bound is inside, in every form; texts arrive whole', async (t) => {
  const plant = await startPlant();
  t.teardown(() => plant.stop());
  const nasty = `nul \u0000, ${'ü'.repeat(200)}, \ud83d\ude00, "quoted", \n`;
  for (const [address, value, written] of [
    ['v101.sp', 0, 0],
    ['v101.sp', 120, 120],
    ['v101.sp', '120.0', 120],
    ['v101.sp', ' 1.2e2 ', 120],
    ['v101.sp', '-0', 0],
    ['v101.count', '-9007199254740991', -9_007_199_254_740_991],
    ['v101.delay', 'T#-1m30s', -90_000],
    ['v101.text', nasty, nasty],
    ['v101.text', '', ''],
  ] as const) {
    t.match(await plant.request('POST', `${UNIT_TAGS}/${address}`, { body: { value } }), { status: 200, body: { ok: true, address } }, `${address} ${String(value).slice(0, 20)}`);
    t.strictSame(plant.link.written.at(-1)?.value, written);
    t.strictSame(plant.audits.at(-1)?.after, value, 'the trail has it as it was sent');
  }
  t.ok(Object.is(at(plant.link.written, 4).value, 0), 'minus zero is zero');
});

t.test('TAG-29: when the storage fails after the runtime has answered, nobody is told that nothing was changed', async (t) => {
  const fails = { at: '' };
  const plant = await startPlant({
    clock: new ScriptedClock(),
    beforeCommit: async ({ audits }) => {
      if (audits.some(({ result }) => result === fails.at)) throw new Error('the disk is full');
    },
  });
  t.teardown(() => plant.stop());
  fails.at = 'Success';
  const answer = await plant.request('POST', `${UNIT_TAGS}/v101.sp`, { body: { value: 30 } });
  t.match(answer, { status: 503, body: { code: 'storage_unavailable', error: /tag v101\.sp was written; that is not on record/ } });
  t.same(plant.link.written, [{ address: 'v101.sp', value: 30 }]);
  t.match(await plant.request('POST', `${UNIT_TAGS}/v101.sp`, { body: { value: 31 } }), { status: 503, body: { code: 'storage_unavailable', error: /nothing was changed/ } });
  t.equal(plant.link.written.length, 1, 'while it refuses, no write reaches the runtime');
});

t.test('TAG-27 WS-22: a runtime that is away is a result frame, on record, over every way in', async (t) => {
  const plant = await startPlant();
  t.teardown(() => plant.stop());
  const socket = await SocketClient.open(plant.url);
  t.teardown(() => socket.close());
  plant.link.ready = false;
  plant.link.message = 'restarting';
  t.match(await socket.ask({ type: 'write', requestId: 'r', site: 'north', unit: 'rx101', address: 'v101.sp', value: 1 }), {
    type: 'result',
    ok: false,
    message: 'the runtime of unit rx101 is not reachable: restarting',
  });
  t.match(await plant.request('POST', `${MODULES}/v101/tags/sp`, { body: { value: 1 } }), { status: 503, body: { code: 'runtime_unreachable' } });
  t.match(
    plant.audits.map(({ result, reason }) => [result, reason]),
    [1, 2].map(() => ['Failed', 'RuntimeUnreachable']),
  );
  t.same(plant.link.written, []);
});

t.test('MODE-03: the mode that the status reports takes precedence over the one of the spec', async (t) => {
  const plant = await startPlant();
  t.teardown(() => plant.stop());
  const report = async (module: string, mode: 'Automatic' | 'Manual' | ''): Promise<void> => {
    const found = plant.store.get(ControlModule, 'north', module);
    if (!found) throw new Error(`there is no ${module}`);
    await plant.store.write({ puts: [{ kind: ControlModule, site: 'north', name: module, status: { ...found.status, mode } }] });
  };
  const write = (module: string) => plant.request('POST', `${UNIT_TAGS}/${module}.sp`, { body: { value: 1 } }).then(({ status }) => status);
  t.same([await write('v101'), await write('v102')], [200, 403], 'Manual and unset in the spec');
  await report('v101', 'Automatic');
  await report('v102', 'Manual');
  t.same([await write('v101'), await write('v102')], [403, 200]);
  await report('v101', '');
  t.equal(await write('v101'), 200, 'an empty status reports nothing');
});

t.test('CMT-06: a declared range holds for a write frame as it does over REST', async (t) => {
  const plant = await startPlant();
  t.teardown(() => plant.stop());
  const socket = await SocketClient.open(plant.url);
  t.teardown(() => socket.close());
  const write = (address: string, value: unknown) => socket.ask({ type: 'write', requestId: 'r', site: 'north', unit: 'rx101', address, value });
  t.match(await write('v101.sp', 120.5), { type: 'error', code: 'out_of_range', message: /0 to 120/ });
  t.match(await write('v101.sp', '-0.5'), { type: 'error', code: 'out_of_range' });
  t.match(await write('io-1:4x00003', 4096), { type: 'error', code: 'out_of_range' }, 'a device address too');
  t.match(await write('v101.sp', 120), { type: 'result', ok: true }, 'a bound is inside');
  t.match(await write('v101.count', 1e9), { type: 'result', ok: true }, 'CMT-07: no bound, none enforced');
  t.same(
    plant.link.written.map(({ value }) => value),
    [120, 1e9],
  );
});

t.test('TAG-27: a refusal of the runtime is passed through with its reason', async (t) => {
  const plant = await startPlant();
  t.teardown(() => plant.stop());
  const own = {
    runtime_unreachable: { result: 'Failed', reason: 'RuntimeUnreachable' },
    device_unreachable: { result: 'Failed', reason: 'DeviceUnreachable' },
    outputs_withheld: { result: 'Rejected', reason: 'OutputsWithheld' },
  };
  for (const [code, status] of [
    ['write_failed', 502],
    ['read_only_tag', 403],
    ['out_of_range', 400],
    ['unknown_tag', 404],
    ['runtime_unreachable', 503],
    ['device_unreachable', 503],
    ['outputs_withheld', 409],
  ] as const) {
    plant.link.answer = { ok: false, code, message: `the device said no (${code})` };
    t.match(await plant.request('POST', `${UNIT_TAGS}/v101.sp`, { body: { value: 1 } }), { status, body: { code, error: `the device said no (${code})` } });
    t.match(plant.audits.at(-1), {
      ...(own[code as keyof typeof own] ?? { result: 'Failed', reason: 'RuntimeRefused' }),
      details: { message: `the device said no (${code})` },
    });
    t.match(plant.audits.at(-2), { result: 'Accepted' });
  }
  plant.link.ready = false;
  t.match(await plant.request('POST', `${UNIT_TAGS}/v101.sp`, { body: { value: 1 } }), { status: 503, body: { code: 'runtime_unreachable' } });
  t.match(plant.audits.at(-1), { result: 'Failed', reason: 'RuntimeUnreachable' });
});

t.test('TAG-28: what is mode-checked follows the address; a device address is, when the site says so', async (t) => {
  const plant = await startPlant();
  t.teardown(() => plant.stop());
  t.equal((await plant.request('POST', `${UNIT_TAGS}/mix.target`, { body: { value: 3 } })).status, 200, 'the prefix names no control module');
  t.equal((await plant.request('POST', `${UNIT_TAGS}/io-1:4x00003`, { body: { value: 3 } })).status, 200, 'a device address of a module in Automatic');
  t.match(plant.audits.at(-1), { details: { deviceAddress: true, controlModule: 'v102' } });
  t.match(await plant.request('POST', `${UNIT_TAGS}/v102.raw`, { body: { value: 3 } }), { status: 403, body: { code: 'automatic_mode' } }, 'the same tag by its path');
  t.match(await plant.request('POST', `${UNIT_TAGS}/io-1:4x00003`, { body: { value: 5000 } }), { status: 400, body: { code: 'out_of_range' } }, 'the range holds always');
  const strict = await startPlant({ modeCheckDeviceTags: true });
  t.teardown(() => strict.stop());
  t.match(await strict.request('POST', `${UNIT_TAGS}/io-1:4x00003`, { body: { value: 3 } }), { status: 403, body: { code: 'automatic_mode', controlModule: 'v102' } });
  t.equal((await strict.request('POST', `${UNIT_TAGS}/io-1:4x00001/2`, { body: { value: 3 } })).status, 200);
});

t.test('TAG-29 EVT-16 D-NONCE-01: the nonce and the record are on disk before the runtime sees the write, and the verdict before the answer', async (t) => {
  const order: string[] = [];
  const plant = await startPlant({
    beforeCommit: async ({ nonces, audits }) => {
      await new Promise((resolve) => setImmediate(resolve));
      order.push(...nonces.map(() => 'nonce'), ...audits.map(({ result }) => result));
    },
  });
  t.teardown(() => plant.stop());
  order.length = 0;
  plant.link.onWrite = () => order.push('runtime');
  await plant.request('POST', `${UNIT_TAGS}/v101.sp`, { body: { value: 1 } });
  order.push('answer');
  t.same(order, ['nonce', 'Accepted', 'runtime', 'Success', 'answer']);
  order.length = 0;
  await plant.request('POST', `${UNIT_TAGS}/nowhere`, { body: { value: 1 } });
  t.same(order, ['nonce', 'Rejected'], 'a refused request has spent its nonce too');
});

t.test('TAG-24 TAG-29: a module that goes to Automatic while the attempt is being recorded is not written', async (t) => {
  let plant: Plant | undefined;
  const goAutomatic = async ({ audits }: LedgerTransaction): Promise<void> => {
    if (!plant || !JSON.stringify(audits).includes('Accepted')) return;
    const { store } = plant;
    plant = undefined;
    const module = store.get(ControlModule, 'north', 'v101')!;
    store.apply({ puts: [{ kind: ControlModule, site: 'north', name: 'v101', spec: { ...module.spec, mode: 'Automatic' } } as never] });
  };
  const started = await startPlant({ beforeCommit: goAutomatic });
  t.teardown(() => started.stop());
  plant = started;
  const answer = await started.request('POST', '/api/v1/sites/north/units/rx101/tags/v101.sp', { token: 'all', body: { value: 30 } });
  t.match(answer, { status: 403, body: { code: 'automatic_mode' } });
  t.strictSame(started.link.written, []);
  t.match(
    started.audits.slice(-2).map(({ result, reason }) => ({ result, reason })),
    [{ result: 'Accepted' }, { result: 'Rejected', reason: 'AutomaticMode' }],
  );
});

t.test('TAG-05 (decisions Q-TAG-01): native values, and text that converts', async (t) => {
  const decode = (type: 'BOOL' | 'INT' | 'REAL' | 'STRING' | 'TIME', value: unknown) =>
    decodeWrite({ address: 'a', type, dataType: 'Float', min: undefined, max: undefined }, value);
  t.equal(decode('BOOL', 'true'), true);
  t.equal(decode('BOOL', '0'), false);
  t.equal(decode('REAL', '42.5'), 42.5);
  t.equal(decode('REAL', '-1e3'), -1000);
  t.equal(decode('INT', '42'), 42);
  t.equal(decode('INT', '-9007199254740991'), -9_007_199_254_740_991);
  for (const beyond of ['9007199254740992', '9223372036854775807', 9_007_199_254_740_992])
    t.throws(() => decode('INT', beyond), { message: /whole number from -9007199254740991 to 9007199254740991/, context: { field: 'value' } }, 'refused, never rounded');
  t.equal(decode('INT', '+7'), 7);
  t.equal(decode('TIME', 'T#1m30s'), 90_000);
  t.equal(decode('STRING', ''), '');
  for (const [type, value] of [
    ['BOOL', 1],
    ['BOOL', 'TRUE '],
    ['BOOL', null],
    ['REAL', ''],
    ['REAL', 'NaN'],
    ['REAL', '1,5'],
    ['REAL', true],
    ['REAL', [1]],
    ['INT', 1.5],
    ['INT', '1.0'],
    ['INT', 2 ** 53],
    ['INT', '9223372036854775808'],
    ['STRING', 1],
    ['TIME', 90_000],
    ['TIME', '90 seconds'],
  ] as const) {
    t.throws(() => decode(type, value), { name: 'Refusal', context: { code: 'invalid_value', field: 'value' } }, `${type} ${JSON.stringify(value)}`);
  }
});
