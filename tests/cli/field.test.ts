/** Field I/O from a shell, against a whole appliance with devices of the field on loopback: what a technician at the cabinet does. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { ApiClient, eventually, PATIENCE_MS } from '../support/api-client.js';
import { CHEAP_PASSWORDS } from '../support/cheap-passwords.js';
import { FieldDevice, FULL } from '../support/field-device.js';
import { LIVE, module as plc } from '../support/loop-checked.js';
import { amlOf, DOSING } from '../support/mtp-package.js';
import { manifest } from '../support/manifest.js';
import { OpcUaServer } from '../support/opcua-server.js';
import { ownFolder } from '../support/own-folder.js';
import { startPlant } from '../support/plant.js';
import { shownValue } from '../../src/cli/remote/channels.js';
import { HereCommand, type Typing } from './here-command.js';
import { LinesideCommand, type Ended } from './lineside-command.js';

const PASSWORD = 'correct horse battery';
const REASON = ['--reason', 'loop check of hall 2'];
const NORTH = '/api/v1/sites/north';

const folder = ownFolder(t, {});
const box = await startPlant({ production: true, authMode: 'local', environment: { ...LIVE, ...CHEAP_PASSWORDS } });
t.teardown(() => box.end());
const device = await FieldDevice.start();
t.teardown(() => device.kill());

const configOf = (who: string): string => {
  mkdirSync(path.join(folder, who), { recursive: true });
  return path.join(folder, who);
};
const lineside = new HereCommand(configOf('anna'));
let admin: ApiClient;

// biome-ignore lint/suspicious/noExplicitAny: tests look into data of every command
async function json(t: Test, args: readonly string[], exitCode = 0): Promise<any> {
  const { code, out, err } = await lineside.run([...args, '-o', 'json']);
  t.equal(code, exitCode, `${args.join(' ')}: ${err}${code === exitCode ? '' : out}`);
  const envelope = JSON.parse(out);
  t.match(envelope, { apiVersion: 'lineside.io/cli/v1', ok: !('error' in envelope), exitCode });
  return envelope.ok ? envelope.data : envelope.error;
}

async function text(t: Test, args: readonly string[], exitCode = 0): Promise<Ended> {
  const ended = await lineside.run(args);
  t.equal(ended.code, exitCode, `${args.join(' ')}: ${ended.err}${ended.code === exitCode ? '' : ended.out}`);
  return ended;
}

/** Shown is what is waited for, and each time behind what was shown before. */
async function until(typing: Typing, pattern: RegExp): Promise<void> {
  await eventually(`it shows ${pattern}`, async () => pattern.test(typing.shown()) || undefined, PATIENCE_MS).catch((fault: unknown) => {
    throw new Error(`${String(fault)}\n${typing.shown()}`);
  });
}

t.test('sign-in, and a module on a device', async (t) => {
  const login = await lineside.run(['login', box.base, '--user', 'anna', '--code', box.appliance.commissioningCode, '--password-stdin'], `${PASSWORD}\n`);
  t.equal(login.code, 0, login.err);
  const answer = await new ApiClient(box.base).post('/api/v1/auth/login', { username: 'anna', password: PASSWORD });
  admin = new ApiClient(box.base).with(`Bearer ${answer.body.accessToken}`);
  const applied = await admin.post('/api/v1/apply', [
    manifest('Site', 'north', {}, {}),
    manifest(
      'IOModule',
      'plc',
      plc(device.address, {
        channels: [
          { name: 'v1', address: 'holding:0', direction: 'output', readbackAddress: 'input:0' },
          { name: 'xv', address: 'coil:0', direction: 'output', readbackAddress: 'discrete:0' },
          { name: 'limit', address: 'discrete:0' },
          { name: 'total', address: 'input:8:uint32', dataType: 'int' },
        ],
      }),
    ),
    manifest('Controller', 'edge', {}),
    manifest('IOModule', 'sim', { protocol: 'simulation', controllerRef: 'edge', channels: [{ name: 'level', address: 'level' }] }),
  ]);
  t.equal(applied.status, 200, applied.text);
  await eventually(
    'both are connected',
    async () => (await admin.get(`${NORTH}/iomodules`)).body.every(({ state }: { state: string }) => state === 'Connected') || undefined,
    PATIENCE_MS,
  );
});

t.test('raw values have all their digits', async (t) => {
  for (const [value, shown] of [
    [-123456789, '-123456789'],
    [4294967295, '4294967295'],
    [1234567.891, '1234567.891'],
    [21.299999237060547, '21.3'],
    [0.000123456789, '0.000123457'],
    [null, '-'],
  ] as const)
    t.equal(shownValue(value), shown);
  device.input[8] = 123_456_789 >>> 16;
  device.input[9] = 123_456_789 & 0xffff;
  await eventually('it is read', async () => (await lineside.run(['io', 'show', 'plc'])).out.includes('123456789') || undefined, PATIENCE_MS);
  t.match((await text(t, ['io', 'list', 'plc'])).out, /^channel +address +direction +value +quality +owner +tags +held$/m);
  t.match((await text(t, ['io', 'list', 'plc'])).out, /^total +input:8:uint32 +input +123456789 +Good$/m);
  t.match((await text(t, ['io', 'show', 'plc'])).out, /^channel +address +direction +raw +quality +age +owner +tags +held$/m);
});

t.test('an output is written, and the bytes of it are shown; a simulated channel is forced and released', async (t) => {
  t.match((await text(t, ['io', 'write', 'plc', 'v1', '500'])).out, /^plc:v1 is written: 500; the device shows 500\n$/);
  t.match((await text(t, ['io', 'exchange', 'plc'])).out, /^last exchange with the device of plc, sent at .*\nsent +[0-9a-f ]+\nreceived +[0-9a-f ]+ after [\d.]+ ms\n$/);
  t.match(
    (await text(t, ['io', 'force', 'plc', 'limit', 'true'], 4)).err,
    /plc is a device \(modbus\): nothing of it is forced\. An output is written with lineside io write plc limit VALUE/,
  );
  t.match((await text(t, ['io', 'write', 'plc', 'v1', 'much'], 2)).err, /v1 takes a number, and not much/);
  t.match((await text(t, ['io', 'force', 'sim', 'level', '42'])).out, /^sim is simulated: level is forced to 42, and stays so until lineside io release sim level\n$/);
  t.match((await text(t, ['io', 'show', 'sim'])).out, /^level +level +input +42 +Good .*\(forced by anna\)$/m);
  t.match((await text(t, ['io', 'release', 'sim'])).out, /^sim:level: the simulation goes on with it\n$/);
  t.match((await text(t, ['io', 'release', 'sim', 'level'])).out, /^sim:level was not forced\n$/);
  await text(t, ['io', 'write', 'plc', 'v1', '0']);
});

t.test('a device is asked what it has, and its probe is restarted; a refusal names the option', async (t) => {
  t.match((await text(t, ['io', 'discover', 'plc'])).out, /^plc: .*it has every channel as configured\nchannel +address[^]*v1 +holding:0 +found/);
  t.match((await text(t, ['io', 'restart', 'plc'], 4)).err, /reason .*at least 10 characters.*; give it with --reason "\.\.\."\n$/);
  const failSafe = { posture: 'supervisory', timeout: '5s', outputs: [{ channel: 'xv', value: false }] };
  t.equal((await admin.put(`${NORTH}/iomodules/plc`, { failSafe })).status, 200);
  t.match(
    (await text(t, ['io', 'restart', 'plc', ...REASON], 4)).err,
    /plc after 5s; send acknowledgeFailSafe true to go on; at the command line it is --acknowledge-fail-safe\n$/,
  );
  t.match(await json(t, ['io', 'restart', 'plc', ...REASON, '--acknowledge-fail-safe']), { servedModules: ['plc'] });
  t.equal((await admin.put(`${NORTH}/iomodules/plc`, { failSafe: null })).status, 200);
  await eventually('it is back', async () => (await admin.get(`${NORTH}/iomodules/plc`)).body.outputs.state === 'live' || undefined, PATIENCE_MS);
  await eventually('it is connected', async () => (await admin.get(`${NORTH}/iomodules/plc`)).body.state === 'Connected' || undefined, PATIENCE_MS);
});

const QUICK = ['--settle', '200ms', ...REASON];

t.test('a loop check is gone through step by step: each is shown, noted where somebody has seen something, and the sheet ends it', async (t) => {
  const at = lineside.sit(['io', 'loop-check', 'plc', 'xv', '--input', 'xv=limit', ...QUICK]);
  await until(at, /step 1: set xv to FALSE\? \[Enter, n NOTE, a to abort\] /);
  at.type('y\n');
  await until(at, /y is no answer: Enter sets the output/);
  at.type('\n');
  await until(at, /step 1: xv FALSE is set\n {2}ok {2}read-back xv shows FALSE, as expected/);
  await until(at, /step 2: set xv to TRUE\?/);
  at.type('n the valve stands closed\n');
  await until(at, /step 2: xv TRUE is set\n {2}ok {2}read-back xv shows TRUE, as expected, after \d+ ms\n {2}ok {2}input limit shows TRUE/);
  t.equal(device.coils[0], 1, 'the device has it');
  await until(at, /step 3: set xv to FALSE\?/);
  at.type('\n');
  const { code, out } = await at.ended;
  t.equal(code, 0, out);
  t.match(out, /= xv: pass, every reading agrees/);
  t.match(out, /^outcome +PASS: every output agrees$/m);
  t.match(out, /^ {2}2 +TRUE +20\S+Z +anna +readback xv +TRUE +TRUE +\d+ ms +yes$/m);
  t.match(out, /^ +note: the valve stands closed$/m);
  t.match(out, /^outputs afterwards:\n {2}xv is back at FALSE$/m);
  t.match(out, /^signatures:\n {2}qualification, anna, 20\S+Z: loop check of hall 2 \(signature [0-9a-f-]{36}, valid\)$/m);
  t.match(out, /^valid: yes, it still is what was signed at 20/m);
});

t.test('what is not as ordered is named, with exit code 1; what moves beside it is told', async (t) => {
  device.wiring = 'wrong-channel';
  const faulty = await lineside.run(['io', 'loop-check', 'plc', 'xv', '--attend', 'hold', '--yes', ...QUICK]);
  device.wiring = 'healthy';
  device.discrete.fill(0);
  t.equal(faulty.code, 1, faulty.err);
  t.match(faulty.out, /NO {2}read-back xv shows FALSE in place of TRUE/);
  t.match(faulty.out, /^outcome +FAULT: 1 of 1 outputs has one$/m);
  const scaled = lineside.run(['io', 'loop-check', 'plc', 'v1', '--low', '0', '--high', String(FULL), '--steps', '0,50,100', '--attend', 'hold', '--yes', ...QUICK, '-o', 'json']);
  const { code, out } = await scaled;
  t.equal(code, 0, out);
  t.match(JSON.parse(out), {
    ok: true,
    data: { outcome: 'pass', attend: 'hold', channels: [{ channel: 'v1', steps: [{ percent: 0 }, { percent: 50 }, { percent: 100, commanded: FULL }] }] },
  });
});

t.test('Ctrl-C aborts it, at a question and while it goes on; the outputs go back, and that is said', async (t) => {
  await text(t, ['io', 'write', 'plc', 'v1', '123']);
  const at = lineside.sit(['io', 'loop-check', 'plc', 'v1', '--low', '0', '--high', String(FULL), ...QUICK]);
  await until(at, /step 1: set v1 to 0\?/);
  at.type('\n');
  await until(at, /step 2: set v1 to 250\?/);
  t.equal(device.holding[0], 0);
  at.type('\u0003');
  const asked = await at.ended;
  t.equal(asked.code, 1, asked.err);
  t.match(asked.err, /v1 is back at 123/);
  t.match(asked.out, /^outcome +INCOMPLETE: .*; it was aborted \(anna\): Ctrl-C at the terminal$/m);
  t.equal(device.holding[0], 123);

  const going = new LinesideCommand(configOf('anna')).start([
    'io',
    'loop-check',
    'plc',
    'v1',
    '--low',
    '0',
    '--high',
    String(FULL),
    '--attend',
    'hold',
    '--yes',
    '--settle',
    '20s',
    ...REASON,
  ]);
  await eventually('a step is set', async () => device.holding[0] === 0 || undefined, PATIENCE_MS);
  going.child.kill('SIGINT');
  const { code, out, err } = await going.ended;
  t.equal(code, 1, err);
  t.match(err, /v1 is back at 123/);
  t.match(out, /Ctrl-C at the terminal/);
  t.equal(device.holding[0], 123);

  const aborted = lineside.sit(['io', 'loop-check', 'plc', 'xv', ...QUICK]);
  await until(aborted, /step 1: set xv to FALSE\?/);
  aborted.type('a\n');
  t.match(await aborted.ended, { code: 1, out: /it was aborted \(anna\): aborted at the terminal/ });
});

t.test('a person holds a check by his signs; one that ends by itself withdraws its question', async (t) => {
  const held = lineside.sit(['io', 'loop-check', 'plc', 'xv', '--attend', 'hold', ...QUICK]);
  await until(held, /Enter is the sign that you are there, within 5 s each time; a aborts/);
  held.type('\n');
  t.match(await held.ended, { code: 0 }, held.shown());
  const elsewhere = lineside.sit(['io', 'loop-check', 'plc', 'xv', ...QUICK]);
  await until(elsewhere, /step 1: set xv to FALSE\?/);
  t.match((await text(t, ['io', 'loop-check', 'abort', 'plc', '--reason', 'the batch cannot wait'])).out, /^loop check plc-\d{14}-[0-9a-f]{4} is aborted; its outputs go back/);
  t.match(await elsewhere.ended, { code: 1 });
  t.match((await text(t, ['io', 'loop-check', 'show', 'plc'])).out, /it was aborted \(anna\): the batch cannot wait/);
  t.match((await text(t, ['io', 'loop-check', 'abort', 'plc', '--reason', 'once more'], 4)).err, /has ended|loop_check_ended/);

  const alone = lineside.sit(['io', 'loop-check', 'plc', 'xv', '--attend-timeout', '1s', ...QUICK]);
  await until(alone, /step 1: set xv to FALSE\?/);
  t.match(await alone.ended, { code: 1, out: /nobody gave a sign/ }, alone.shown());
});

t.test('what cannot be attended or read is told before anything is set', async (t) => {
  const refused = async (args: readonly string[], message: RegExp, code = 2): Promise<void> => {
    t.match((await text(t, ['io', 'loop-check', 'plc', ...args, ...REASON], code)).err, message);
  };
  await refused([], /nobody sits at this terminal to confirm the steps: with --attend hold --yes/);
  await refused(['--yes'], /--yes goes with --attend hold/);
  await refused(['--attend', 'never'], /--attend never: give confirm/);
  const hold = ['--attend', 'hold', '--yes'];
  await refused([...hold, '--low', '1'], /--low is for outputs that are named/);
  await refused(['v1', ...hold, '--low', 'deep'], /--low deep: give a number/);
  await refused(['v1', ...hold, '--settle', 'soon'], /--settle soon: give a duration/);
  await refused(['v1', ...hold, '--steps', '0,half'], /--steps half: give per cent/);
  await refused(['v1', ...hold, '--input', 'xv=limit'], /xv is not among the outputs that are named/);
  await refused(['v1', ...hold], /no control module tells the range of output v1; give low and high/, 4);
  await refused(['nothing', ...hold], /has no output nothing/, 4);
  t.match((await text(t, ['io', 'loop-check', 'plc', ...hold, '--reason', 'short'], 4)).err, /; give it with --reason "\.\.\."/);
});

t.test('sheets are listed, shown and witnessed by another person', async (t) => {
  const rows = await json(t, ['io', 'loop-check', 'list', 'plc']);
  t.ok(rows.length >= 6);
  t.match((await text(t, ['io', 'loop-check', 'list'])).out, /^loop check +phase +outcome +end +by +begun +outputs\nplc-\d{14}-[0-9a-f]{4} +Sealed +incomplete +unattended +anna/);
  const { id } = rows.find(({ outcome }: { outcome: string }) => outcome === 'pass');
  t.match((await text(t, ['io', 'loop-check', 'show', id])).out, new RegExp(`^loop check ${id}\\n\\nmodule +plc of site north: modbus 127\\.0\\.0\\.1:${device.port}`));
  t.match(JSON.parse((await text(t, ['io', 'loop-check', 'show', id, '--format', 'json'])).out), { id, valid: true, outcome: 'pass' });
  t.match((await text(t, ['io', 'loop-check', 'show', 'plc'])).out, /^loop check plc-/, 'the newest of a module');
  t.match((await text(t, ['io', 'loop-check', 'show', 'sim'], 4)).err, /nothing of the kind was made of I\/O module sim yet/);
  t.match((await text(t, ['io', 'loop-check', 'show', id, '--format', 'pdf'], 2)).err, /a sheet is read as text or json/);

  await admin.post('/api/v1/auth/users', { username: 'bert', displayName: 'Bert', password: PASSWORD, groups: ['lineside-engineer'] });
  const first = await new ApiClient(box.base).post('/api/v1/auth/login', { username: 'bert', password: PASSWORD });
  await new ApiClient(box.base).with(`Bearer ${first.body.accessToken}`).post('/api/v1/auth/password', { currentPassword: PASSWORD, newPassword: `${PASSWORD} 2` });
  const bert = new HereCommand(configOf('bert'));
  t.equal((await bert.run(['login', box.base, '--user', 'bert', '--password-stdin'], `${PASSWORD} 2`)).code, 0);
  const witnessed = await bert.run(['io', 'loop-check', 'witness', id, '--reason', 'stood at the valve']);
  t.match(witnessed, { code: 0, out: new RegExp(`^loop check ${id}: Witnessed, Bert, 20\\S+Z: stood at the valve \\(signature \\S+, valid\\)\\n$`) }, witnessed.err);
  t.match(
    (await text(t, ['io', 'loop-check', 'show', id])).out,
    /^ {2}qualification, anna, [\s\S]*^ {2}Witnessed, Bert, 20\S+Z: stood at the valve \(signature \S+, valid\)$/m,
    'who has witnessed it stands on the sheet',
  );
});

t.test('the cable of a module is accepted by telling what is done to it', async (t) => {
  t.match((await text(t, ['io', 'acceptance', 'mark', 'plc', 'other'], 4)).err, /no acceptance of plc is under way: lineside io acceptance begin plc/);
  t.match((await text(t, ['io', 'acceptance', 'begin', 'plc', ...REASON])).out, /^acceptance plc-\d{14}-[0-9a-f]{4} is under way/);
  t.match((await text(t, ['io', 'acceptance', 'mark', 'plc', 'cut'], 2)).err, /cut is no trial: give cable-pulled, .*, or over when you undo it/);
  t.match((await text(t, ['io', 'acceptance', 'mark', 'plc', 'cable-pulled', '--note', 'at the switch'])).out, /^cable-pulled: the cable is pulled/);
  device.isMute = true;
  await eventually(
    'it is shown',
    async () => (await admin.get(`${NORTH}/iomodules/plc/tags`)).body.every(({ quality }: { quality: string }) => quality === 'Bad') || undefined,
    PATIENCE_MS,
  );
  t.match((await text(t, ['io', 'acceptance', 'mark', 'plc', 'over'])).out, /^the trial is over/);
  device.isMute = false;
  await eventually('it is judged', async () => (await json(t, ['io', 'acceptance', 'show', 'plc'])).open === null || undefined, PATIENCE_MS);
  const { code, out, err } = await lineside.run(['io', 'acceptance', 'finish', 'plc']);
  t.equal(code, 0, `${err}${out}`);
  t.match(out, /^outcome +PASS$/m);
  t.match(out, /^ {2}cable-pulled +20\S+Z +4 +\d+ ms +\d+ ms +\d+ ms +\d+ ms +no +pass$/m);
  t.match(out, /^notes:\n {2}cable-pulled: at the switch$/m);
  t.match(out, /^valid: yes/m);
  t.match((await text(t, ['io', 'acceptance', 'list'])).out, /^acceptance +phase +outcome[^]*plc-\S+ +Sealed +pass +anna/);
});

t.test('ADR 0087: a trial that shows nothing is no pass at the terminal either, and says why', async (t) => {
  await text(t, ['io', 'acceptance', 'begin', 'plc', ...REASON]);
  await text(t, ['io', 'acceptance', 'mark', 'plc', 'cable-pulled']);
  await text(t, ['io', 'acceptance', 'mark', 'plc', 'over']);
  await eventually('it is judged', async () => (await json(t, ['io', 'acceptance', 'show', 'plc'])).open === null || undefined, PATIENCE_MS);
  const { out } = await text(t, ['io', 'acceptance', 'finish', 'plc'], 1);
  t.match(out, /^outcome +INCOMPLETE$/m);
  t.match(out, /^ {2}cable-pulled +20\S+Z .* incomplete$/m);
  t.match(out, /^shows nothing:\n {2}cable-pulled: it lasted \d+ ms/m);
});

t.test('what a module signs in with is set without being shown, told by name, and removed', async (t) => {
  t.match((await text(t, ['secret', 'list'])).out, /^there is no secret in north\n$/);
  const made = await lineside.run(['secret', 'set', 'plc-login', '--username', 'line-1', '--stdin'], 'correct-horse-7\n');
  t.match(made, { code: 0, out: /^secret plc-login is set: username, password\n$/, err: /no I\/O module names plc-login yet/ });
  const at = lineside.sit(['secret', 'set', 'plc-login']);
  await until(at, /password of plc-login: /);
  at.type('staple-battery-8\n');
  await until(at, /once more: /);
  at.type('staple-battery-8\n');
  t.match(await at.ended, { code: 0, out: /username, password/ });
  t.notMatch(at.shown(), /staple/);
  t.match((await lineside.run(['secret', 'set', 'plc-login'])).err, /give it in a line of standard input, with --stdin/);
  t.match((await lineside.run(['secret', 'set', 'plc-login', '--stdin'])).err, /the password of the device is expected on standard input/);
  t.match((await lineside.run(['secret', 'set', 'plc-login', '--remove', 'name'])).err, /a secret has username, password, certificate, key/);
  t.match((await lineside.run(['secret', 'set', 'plc-login', 'open'], 'x')).err, /too many arguments/, 'never an argument');
  t.match(await lineside.run(['secret', 'set', 'plc-login', '--certificate', path.join(folder, 'none.pem')]), { code: 2, err: /none\.pem: does not exist/ });
  writeFileSync(path.join(folder, 'client.pem'), 'no certificate');
  t.match(await lineside.run(['secret', 'set', 'plc-login', '--certificate', path.join(folder, 'client.pem')]), { code: 4, err: /certificate must be a certificate in PEM/ });
  t.match(await json(t, ['secret', 'set', 'plc-login', '--remove', 'username']), { members: ['password'] });
  t.match((await text(t, ['secret', 'list'])).out, /^plc-login +password +box +yes +20/m);
  t.match((await text(t, ['secret', 'delete', 'plc-login'])).out, /^secret plc-login is removed\n$/);
  t.match((await text(t, ['secret', 'delete', 'plc-login'], 4)).err, /plc-login/);
});

t.test('an OPC UA server is looked through, and trusted after its certificate was compared', async (t) => {
  const server = await OpcUaServer.start({ folder: ownFolder(t) });
  t.teardown(() => server.kill());
  const node = (name: string): string => `nsu=urn:lineside:plant;s=${name}`;
  t.match(
    (await text(t, ['opcua', 'endpoints', server.url])).out,
    new RegExp(`^endpoint +policy +mode[^]*Basic256Sha256 +SignAndEncrypt[^]*it shows the certificate with SHA-256 ${server.sha256}\\n$`),
  );
  t.match((await text(t, ['opcua', 'browse', server.url])).out, /^node +name +class +type +more below\n/);
  t.match((await text(t, ['opcua', 'search', server.url, 'feedback'])).out, /Valve\.Feedback +\/Plant\/Valve\/Feedback +Variable +Double/);
  t.match((await text(t, ['opcua', 'read', server.url, node('Double'), node('Array')])).out, /Double +21\.25 +Double +Good +Good[^]*Array/);
  t.match((await text(t, ['opcua', 'variables', server.url, node('Valve')])).out, /^node +path +type +access +value +unit +reads back at\n/);
  t.match((await text(t, ['opcua', 'method', server.url, node('Calculator'), node('Calculator.Add')])).out, /^ +argument +type +what\ntakes/m);
  t.match((await text(t, ['opcua', 'services', server.url])).out, /^there is no service of a module type package\n$/);
  t.match((await text(t, ['opcua', 'write', server.url, node('Float'), '2.5'])).out, /s=Float was written: 2\.5\n$/);
  t.match((await text(t, ['opcua', 'write', server.url, node('Bool'), 'off'])).out, /was written/);
  t.match((await text(t, ['opcua', 'write', server.url, node('Int64'), '9007199254740993'])).out, /was written/);
  t.match((await text(t, ['opcua', 'write', server.url, node('String'), '12'])).out, /was written/);
  t.match((await text(t, ['opcua', 'read', server.url, ...['Float', 'Bool', 'Int64', 'String'].map(node)])).out, /2\.5[^]*false[^]*9007199254740993[^]*12 +String/);
  t.match((await text(t, ['opcua', 'write', server.url, node('Float'), 'warm'], 2)).err, /s=Float takes a number, and not warm/);
  t.match((await text(t, ['opcua', 'write', server.url, node('Nowhere'), '1'], 2)).err, /holds no value \(BadNodeIdUnknown\): name it with --type/);
  t.match((await text(t, ['opcua', 'write', server.url, node('ReadOnly'), '1'], 1)).out, /^nothing was written to .*s=ReadOnly: BadNotWritable/);
  t.match((await text(t, ['opcua', 'identity'])).out, /SHA-256 +[0-9a-f]{64}/i);
  t.match((await text(t, ['opcua', 'identity', '--pem'])).out, /^-----BEGIN CERTIFICATE-----/);
  t.match((await text(t, ['opcua', 'read', 'plc', node('Double')], 4)).err, /plc is of protocol modbus/);
  t.match((await text(t, ['opcua', 'browse', 'plc', '--policy', 'None'], 2)).err, /go with an address/);
  t.match((await text(t, ['opcua', 'browse', server.url, '--policy', 'Best'], 2)).err, /--policy Best: give None, Basic256Sha256/);

  const security = { securityPolicy: 'Basic256Sha256', securityMode: 'SignAndEncrypt' };
  const module = `${NORTH}/iomodules/ua`;
  const made = await admin.post('/api/v1/apply', [manifest('IOModule', 'ua', { protocol: 'opcua', address: server.url, channels: [{ name: 'level', address: node('Double') }] })]);
  t.equal(made.status, 200, made.text);
  t.match(
    (await text(t, ['opcua', 'trust', 'ua'], 2)).err,
    /ua has securityPolicy None: its server shows nothing that could be verified\. Set security\.securityPolicy and securityMode first/,
    'before anybody compares',
  );
  t.equal((await admin.put(module, { security })).status, 200);
  const trusted = async () => (await admin.get(module)).body.security;
  t.match((await text(t, ['opcua', 'trust', 'ua', '--fingerprint', 'aa'], 2)).err, /aa is no fingerprint/);
  t.match((await text(t, ['opcua', 'trust', 'ua', '--fingerprint', 'a'.repeat(64)], 4)).err, /shows another certificate than the one that you have named, and nothing was trusted/);
  t.match((await text(t, ['opcua', 'trust', 'ua'], 2)).err, /nobody is there to answer/);
  const careless = lineside.sit(['opcua', 'trust', 'ua']);
  await until(careless, /What comes over the network proves nothing\.\n[^]*\(Enter: trust nothing\): /);
  careless.type('\n');
  t.match(await careless.ended, { code: 1, err: /nothing was trusted/ });
  t.notMatch(await trusted(), { serverCertificateSha256: /./ });
  const asShown = `${server.sha256
    .slice(0, 8)
    .toUpperCase()
    .replace(/(..)(?=.)/g, '$1:')}\n`;
  const overtaken = lineside.sit(['opcua', 'trust', 'ua']);
  await until(overtaken, /\(Enter: trust nothing\): /);
  const stricter = { ...security, securityPolicy: 'Aes256_Sha256_RsaPss' };
  t.equal((await admin.put(module, { security: stricter })).status, 200);
  overtaken.type(asShown);
  t.match(await overtaken.ended, { code: 4, err: /somebody has changed ua since the command began, and nothing was trusted/ });
  t.match(await trusted(), stricter, 'what was set meanwhile stands');
  t.equal((await admin.put(module, { security })).status, 200);
  const careful = lineside.sit(['opcua', 'trust', 'ua']);
  await until(careful, /\(Enter: trust nothing\): /);
  careful.type(asShown);
  t.match(await careful.ended, { code: 0, out: `ua trusts the server with the certificate ${server.sha256}` });
  t.match(await trusted(), { ...security, serverCertificateSha256: server.sha256 }, 'nothing else of it has changed');
  t.match((await text(t, ['opcua', 'trust', 'ua', '--fingerprint', server.sha256])).out, /^ua trusts it already/);
  await admin.delete(module);
});

t.test('a module type package is looked at, and then imported, with its report in words', async (t) => {
  const file = path.join(folder, 'dosing.aml');
  writeFileSync(file, amlOf(DOSING));
  t.match((await text(t, ['import', 'mtp', file], 2)).err, /--name is missing/);
  const looked = await lineside.run(['import', 'mtp', file, '--name', 'dosing']);
  t.match(looked.out, /unit dosing would get \d+ services? and \d+ tags[^]*\nservices:\n[^]*\nwould be made:\n {2}Unit dosing\n[^]*nothing is stored: --apply imports it\n$/);
  t.equal((await admin.get(`${NORTH}/units/dosing`)).status, 404);
  const imported = await json(t, ['import', 'mtp', file, '--name', 'dosing', '--apply'], looked.code ?? 0);
  t.match(imported, { dryRun: false });
  t.equal(looked.code, imported.report.some(({ severity }: { severity: string }) => severity === 'error') ? 1 : 0);
  t.equal((await admin.get(`${NORTH}/units/dosing`)).status, 200);
  const picture = path.join(folder, 'picture.aml');
  writeFileSync(picture, '<svg/>');
  t.match((await text(t, ['import', 'mtp', picture, '--name', 'x'], 4)).err, /picture\.aml: the package cannot be read: .*its root is svg/);
  t.match((await text(t, ['import', 'mtp', path.join(folder, 'none.mtp'), '--name', 'x'], 2)).err, /none\.mtp: does not exist/);
});

t.test('D-IO-02: of a device that is away the terminal says when it is tried again', async (t) => {
  const nobody = manifest('IOModule', 'gone', { protocol: 'modbus', address: '127.0.0.1:1', channels: [{ name: 'a', address: 'holding:0' }] });
  t.equal((await admin.post('/api/v1/apply', [nobody])).status, 200);
  const shown = /gone is Disconnected: [^\n]+\nits device is tried again in \d+ s; lineside io discover gone tries at once\n/;
  await eventually('it is said', async () => shown.test((await text(t, ['io', 'show', 'gone'])).out) || undefined, PATIENCE_MS);
});

t.test('channels are shown again every second until Ctrl-C', async (t) => {
  const watching = new LinesideCommand(configOf('anna')).start(['io', 'show', 'plc', '--watch', '-o', 'json']);
  await eventually('it has told twice', async () => watching.out().trim().split('\n').length >= 2 || undefined, PATIENCE_MS);
  watching.child.kill('SIGINT');
  const { code, out, err } = await watching.ended;
  t.equal(code, 0, err);
  for (const line of out.trim().split('\n'))
    t.match(JSON.parse(line), { command: 'io show', data: { module: 'plc', state: 'Connected', channels: [{ channel: 'v1', ageMs: Number }] } });
  const ages = out
    .trim()
    .split('\n')
    .flatMap((line) => JSON.parse(line).data.channels.map(({ ageMs }: { ageMs: number | null }) => ageMs));
  t.ok(
    ages.some((ageMs) => ageMs > 0 && ageMs < 1000),
    `in milliseconds, which the clock of an answer does not have: ${ages.join(' ')}`,
  );
  t.equal(readFileSync(path.join(configOf('anna'), 'lineside/boxes.json'), 'utf8').includes(PASSWORD), false);
});
