/**
 * The operating commands of `lineside` against a whole appliance with the demonstration plant: what an operator does from a shell, and
 * what a script may count on.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t, { type Test } from 'tap';
import { startAppliance } from '../../src/main.js';
import { type Clock, systemClock } from '../../src/platform/base/clock.js';
import { readSettings } from '../../src/settings.js';
import { ApiClient, eventually, PATIENCE_MS } from '../support/api-client.js';
import { CHEAP_PASSWORDS } from '../support/cheap-passwords.js';
import { patientDemo } from '../support/patient-demo.js';
import { ANSWERS, type Prompt, SITE, SMALL } from '../support/plant.js';
import { ORDINARY_PRIORITY } from '../support/thrifty-threads.js';
import { KnownBoxes } from '../../src/cli/remote/boxes.js';
import type { Given } from '../../src/cli/remote/command.js';
import { FAMILIES } from '../../src/cli/remote/families.js';
import { failureOf } from '../../src/cli/remote/outcome.js';
import { HereCommand } from './here-command.js';
import { type Ended, LinesideCommand, type Running } from './lineside-command.js';
import { boxContext, rowOf } from './support.js';

process.env.LINESIDE_LOG_LEVEL ??= 'silent';
const MINUTE_MS = 60_000;
const PASSWORD = 'correct horse battery';
const REASON = ['--reason', 'asked for by the test'];
const SMALL_OPTIONS = ['--quantity', SMALL.quantity, ...SMALL.parameters.flatMap(({ name, value }) => ['--param', `${name}=${value}`])];

const folder = mkdtempSync(path.join(tmpdir(), 'lineside-cli-'));
const config = path.join(folder, 'config');
mkdirSync(config);
/** Minutes pass at once for the gateway: by the wall, and for what it measures. */
class PassedClock implements Clock {
  passedMs = 0;
  wallMs = (): number => systemClock.wallMs() + this.passedMs;
  monoMs = (): number => systemClock.monoMs() + this.passedMs;
  after = (delayMs: number, call: () => void): (() => void) => systemClock.after(delayMs, call);
}
const clock = new PassedClock();
const appliance = await startAppliance(
  readSettings(
    [],
    {
      LINESIDE_GATEWAY__HTTPPORT: '0',
      LINESIDE_GATEWAY__LISTEN: '127.0.0.1',
      LINESIDE_GATEWAY__OPERATINGMODE: 'development',
      LINESIDE_GATEWAY__RATELIMIT__ENABLED: 'false',
      LINESIDE_DEMO__ENABLED: 'true',
      LINESIDE_DEMO__DIR: patientDemo(path.join(folder, 'demo')),
      LINESIDE_RUNTIME__TIMESCALE: '10',
      ...ORDINARY_PRIORITY,
      ...CHEAP_PASSWORDS,
    },
    path.join(folder, 'data'),
  ),
  { version: '0.0.0-test', commit: '' },
  clock,
);
t.teardown(async () => {
  await appliance.stop();
  rmSync(folder, { recursive: true, force: true });
});
const base = `http://127.0.0.1:${appliance.port}`;
/** What is about the process itself: standard streams, signals, a shell. */
const lineside = new LinesideCommand(config);
const here = new HereCommand(config);
const boxesFile = path.join(config, 'lineside/boxes.json');

// biome-ignore lint/suspicious/noExplicitAny: tests look into data of every command
async function json(t: Test, args: readonly string[], exitCode = 0): Promise<any> {
  const ended = await here.run([...args, '-o', 'json']);
  t.equal(ended.code, exitCode, `${args.join(' ')}: ${ended.err}${ended.code === exitCode ? '' : ended.out}`);
  const envelope = JSON.parse(ended.out);
  t.match(envelope, { apiVersion: 'lineside.io/cli/v1', ok: !('error' in envelope), exitCode });
  return envelope.ok ? envelope.data : envelope.error;
}

async function text(t: Test, args: readonly string[], exitCode = 0): Promise<Ended> {
  const ended = await here.run(args);
  t.equal(ended.code, exitCode, `${args.join(' ')}: ${ended.err}`);
  return ended;
}

const contextOf = (args: readonly string[], options: Given = {}) => boxContext(new KnownBoxes(path.join(config, 'lineside')), args, options);

/** As the command does it, without a process of its own: with what it prints, or the refusal. */
async function ran(words: string, args: readonly string[] = [], options: Given = {}): Promise<{ readonly code: number; readonly data: unknown; readonly text: string }> {
  try {
    const { data, text: told, exitCode = 0 } = await rowOf(words).run(contextOf(args, options));
    return { code: exitCode, data, text: told };
  } catch (fault) {
    const { exitCode, told, message } = failureOf(fault, base);
    return { code: exitCode, data: told, text: message };
  }
}

let admin: ApiClient;
let watching: Running;

t.test('the first administrator signs in with the commissioning code, and the token is for its owner alone', async (t) => {
  const login = await lineside.run(['login', base, '--user', 'anna', '--code', appliance.commissioningCode, '--password-stdin', '--name', 'demo'], `${PASSWORD}\n`);
  t.equal(login.code, 0, login.err);
  t.match(login.out, /signed in to .* as anna/);
  t.equal(statSync(boxesFile).mode & 0o777, 0o600);
  t.notMatch(readFileSync(boxesFile, 'utf8'), PASSWORD, 'the password is not kept');
  const answer = await new ApiClient(base).post('/api/v1/auth/login', { username: 'anna', password: PASSWORD });
  admin = new ApiClient(base).with(`Bearer ${answer.body.accessToken}`);
  await eventually('all units run', async () => (await admin.get(`${SITE}/units`)).body.every(({ runtimeReady }: { runtimeReady: boolean }) => runtimeReady), PATIENCE_MS);
  watching = lineside.start(['watch', '-o', 'json']);
  await eventually('somebody watches', async () => ((await admin.get('/api/v1/auth/sessions')).body as { streams: number }[]).some(({ streams }) => streams > 0), PATIENCE_MS);
});

t.test('a batch from its making to its record: started, asked, answered, waited for', async (t) => {
  const made = await json(t, ['batch', 'create', '--recipe', 'resin-a', '--id', 'B-1', ...SMALL_OPTIONS, '--unit', 'react=rx101']);
  t.match(made, { batchID: 'B-1', phase: 'Pending' });
  await text(t, ['batch', 'preflight', 'B-1']);
  await eventually('it may start', async () => (await here.run(['batch', 'start', 'B-1', '--wait', '--timeout', '60'])).code === 0, PATIENCE_MS);
  t.match(await text(t, ['batch', 'show', 'B-1']), { out: /batch B-1 \(b-b-1-\w+\) is (Running|Complete)[\s\S]*elements:\n.*Procedure/ });

  for (const [key, answer] of [
    ['ph', ANSWERS.ph],
    ['viscosity', ANSWERS.viscosity],
  ] as const) {
    const prompt = await eventually(
      `it asks for ${key}`,
      async () => ((await admin.get(`${SITE}/prompts`)).body as Prompt[]).find(({ phase }) => phase.endsWith(key === 'ph' ? 'check' : 'sample')),
      PATIENCE_MS,
    );
    t.match((await text(t, ['prompt', 'list', '--batch', 'B-1'])).out, `${prompt.phase}/${prompt.id}`);
    if (key === 'ph') {
      t.match((await text(t, ['prompt', 'answer', prompt.phase], 2)).err, /wants a value between 0 and 14 pH/, 'what it wants is named');
      t.match((await text(t, ['prompt', 'answer', 'nobody', '7', ...REASON], 4)).err, prompt.id, 'what is asked is named');
      t.match((await text(t, ['prompt', 'answer', prompt.phase, '7'], 2)).err, /--reason/, 'an answer is signed with a reason');
      t.match((await text(t, ['prompt', 'answer', prompt.phase, '99', ...REASON], 4)).err, /0 to 14/);
    }
    await eventually('whoever watches sees it', async () => watching.out().includes(prompt.id), PATIENCE_MS);
    const done = await json(t, ['prompt', 'answer', `${prompt.phase}/${prompt.id}`, answer ?? '', '--reason', 'measured at the bench']);
    t.match(done, { response: answer, signature: /^[0-9a-f]{64}$/ });
  }
  t.match(await json(t, ['batch', 'wait', 'B-1', '--timeout', '120']), { batch: { phase: 'Complete' } });
  const file = path.join(folder, 'b-1.xml');
  await text(t, ['record', 'B-1', '--wait', '--timeout', '120', '--format', 'xml', '--out', file]);
  t.match(readFileSync(file, 'utf8'), /^<\?xml[\s\S]*BatchProductionRecord/);
  t.match(await json(t, ['record', 'B-1']), { provisional: false, record: { provisional: false, batch: { batchID: 'B-1' } } });
  t.match(await json(t, ['batch', 'list', '--state', 'Complete']), [{ batchID: 'B-1' }]);
  t.same(await json(t, ['batch', 'list', '--state', 'Aborted']), []);
});

t.test('a batch is held, goes on, and is aborted; what it cannot become any more is exit code 1', async (t) => {
  const made = await json(t, ['batch', 'create', '--recipe', 'clean-train', '--id', 'B-2', '--param', 'dwellTime=3000']);
  await eventually('it may start', async () => (await here.run(['batch', 'start', 'B-2', '--wait', '--timeout', '60'])).code === 0, PATIENCE_MS);
  t.match(await json(t, ['batch', 'hold', 'B-2'], 2), { code: 'usage', message: /reason for Hold of B-2, at least 10 characters/ });
  t.match(await json(t, ['batch', 'hold', 'B-2', '--reason', 'short'], 4), { code: 'reason_too_short', status: 400 });
  t.match(
    await json(t, ['batch', 'hold', made.name, ...REASON, '--wait', '--timeout', '60']),
    { batch: { phase: 'Held', holds: [{ reason: 'asked for by the test' }] } },
    'by the name of its resource',
  );
  t.match((await text(t, ['batch', 'show', 'B-2'])).out, /what went wrong:\n.*held.*"asked for by the test"/);
  t.match(await json(t, ['batch', 'start', 'B-2'], 4), { message: /is Held and takes no Start/ });
  await text(t, ['batch', 'preflight', 'B-2', '--restart']);
  await ran('mode', ['xv105', 'Manual']);
  const again = await here.run(['batch', 'restart', 'B-2', '--wait', '--timeout', '60', '-o', 'json']);
  t.match(again.err, /^warning modes: xv105 is in Manual, and phase .+ writes outlet\.cmd: it is held again when it comes to step drainOpen/m, 'what the panel warns of');
  t.match(JSON.parse(again.out), { exitCode: 0, data: { batch: { phase: 'Running' } } });
  await ran('mode', ['xv105', 'Automatic']);
  t.match(await json(t, ['batch', 'wait', 'B-2', '--timeout', '0.3'], 1), { code: 'timeout', state: 'Running' });
  t.match(await json(t, ['batch', 'abort', 'B-2', ...REASON, '--wait', '--timeout', '60']), { batch: { phase: 'Aborted' } });
  t.match(await json(t, ['batch', 'wait', 'B-2'], 1), { code: 'not_reached', state: 'Aborted' });
});

t.test('the status of a record is seen, and raised by a review and a seal', async (t) => {
  const shown = async (batch: string) => (await ran('records show', [batch])).text;
  t.match(await shown('B-1'), /^record of batch B-1 \(b-b-1-\w+\) is Open; the batch ended Complete\n\nconditions:\n {2}PhaseHistorySettled is True/);
  t.match((await text(t, ['records', 'list', '--status', 'open'])).out, /^batch +record +status +outcome +recipe +ended\n[\s\S]*B-1 +b-b-1-\w+ +Open +Complete +resin-a/);
  t.match(await ran('records list', [], { status: 'Sealed' }), { code: 2, text: /--status Sealed: give Open, Reviewed, Finalized/ });
  t.match(await ran('records comment', ['B-1', 'the pH is explained in DEV-12'], { reference: 'check' }), { data: { text: /DEV-12/, reference: 'check', by: 'anna' } });
  t.match(await ran('records review', ['B-1', 'Perhaps']), { code: 2, text: /Perhaps is no outcome of a review: give Accepted or Rejected/ });
  t.match(await ran('records review', ['B-1', 'rejected'], { comment: 'signature is missing' }), { data: { phase: 'Reviewed', review: { outcome: 'Rejected' } } });
  t.match((await text(t, ['records', 'review', 'B-1', 'Accepted'])).out, /^the record of B-1 is Reviewed: Accepted by /);
  const offered = () => rowOf('records finalize').names?.batch?.(contextOf([]));
  t.ok((await offered())?.includes('B-1'));
  t.match((await text(t, ['records', 'finalize', 'B-1'], 2)).err, /--reason/, 'it is signed with a reason');
  t.match(await json(t, ['records', 'finalize', 'B-1', ...REASON]), { phase: 'Finalized', reason: REASON[1], signature: /^[0-9a-f]{64}$/ });
  t.match(
    await shown('B-1'),
    /is Finalized; [\s\S]*reviewed by .*: Accepted\nsealed by .*: asked for by the test\nit still is what was signed\n[\s\S]*comments:\n.*DEV-12 \(check\)/,
  );
  t.match(await ran('records comment', ['B-1', 'too late']), { code: 4, data: { code: 'record_sealed', status: 409 } });
  t.match((await ran('records list', [], { status: 'Finalized' })).data, [{ batchID: 'B-1', phase: 'Finalized' }]);
  t.match(await ran('records show', ['nobody']), { code: 4, data: { code: 'not_found', message: /there is no batch nobody/ } });
  t.notOk((await offered())?.includes('B-1'), 'what is sealed is not offered');
});

t.test('a work order is a batch, and is named as one', async (t) => {
  t.match(await json(t, ['order', 'create', 'WO-7', '--product', 'resin-a', ...SMALL_OPTIONS]), { workOrderID: 'WO-7', status: undefined, awaitingOperatorStart: true });
  t.match(await json(t, ['order', 'show', 'WO-7']), { status: 'Pending' });
  t.match((await text(t, ['order', 'list'])).out, /WO-7 +resin-a +Pending/);
  t.match(await json(t, ['batch', 'show', 'WO-7']), { batch: { workOrderID: 'WO-7', phase: 'Pending' }, elements: [], prompts: [] });
  await text(t, ['order', 'delete', 'WO-7']);
  t.match(await json(t, ['order', 'show', 'WO-7'], 4), { status: 404 });
});

t.test('a batch that is refused is told with all that is in the way', async (t) => {
  const refused = await json(t, ['batch', 'create', '--recipe', 'resin-a', '--id', 'B-3', '--quantity', '14000'], 4);
  t.match(refused, { status: 400, checks: [] });
  t.match(refused.message, /quantity 14000 is outside[\s\S]*batch-size:[\s\S]*lifted by operate/);
  t.match(await json(t, ['batch', 'preflight', '--recipe', 'resin-a', '--id', 'B-3', '--quantity', '14000'], 1), { ok: false });
  t.match(await json(t, ['batch', 'create', '--recipe', 'resin-a'], 2), { message: /--id/ });
  t.match(await json(t, ['batch', 'create', '--recipe', 'resin-a', '--id', 'B-3', '--param', 'reactTime'], 2), { message: /--param reactTime: give it as --param reactTime=20/ });
  t.match(await json(t, ['batch', 'show', 'B-'], 4), { code: 'not_found', message: /did you mean B-[12] or B-[12]/ });
});

t.test('an alarm is acknowledged, shelved and unshelved', async (t) => {
  const definition = {
    name: 'always-warm',
    sourceKind: 'ControlModule',
    sourceName: 'tic101',
    conditionType: 'TagHigh',
    tagName: 'pv',
    threshold: '-50',
    type: 'Process',
    severity: 'Low',
    message: 'It is warmer than -50',
    priority: 100,
    enabled: true,
  };
  t.equal((await admin.post(`${SITE}/alarmdefinitions`, definition)).status, 201);
  const name: string = await eventually(
    'the alarm stands',
    async () => (await admin.get(`${SITE}/alarms`)).body.find(({ definitionRef }: { definitionRef: string }) => definitionRef === 'always-warm')?.name,
    PATIENCE_MS,
  );
  t.match((await text(t, ['alarm', 'list'])).out, new RegExp(`${name} +Low +ActiveUnacknowledged`));
  t.match(await json(t, ['alarm', 'shelve', name, '30m'], 4), { code: 'not_active_acknowledged' });
  t.match(await json(t, ['alarm', 'ack', name, '--comment', 'it is']), { state: 'ActiveAcknowledged', acknowledgedBy: 'anna' });
  t.match(await json(t, ['alarm', 'shelve', name, 'long'], 2), { message: /no duration/ });
  t.match(await json(t, ['alarm', 'shelve', name, '30m']), { shelved: true });
  t.same(
    (await json(t, ['alarm', 'list'])).filter((alarm: { name: string }) => alarm.name === name),
    [],
  );
  t.match(
    (await json(t, ['alarm', 'list', '--all'])).filter((alarm: { name: string }) => alarm.name === name),
    [{ shelved: true }],
  );
  t.match(await json(t, ['alarm', 'unshelve', name]), { shelved: false });
  t.match(
    (await json(t, ['alarm', 'history', name])).map(({ event }: { event: string }) => event),
    ['Unshelved', 'Shelved', 'Acknowledged', 'Activated'],
  );
  t.same(await json(t, ['alarm', 'history', name, '--since', '2099-01-01T00:00:00Z']), []);
});

t.test('whoever watches sees changes a line each, and ends in order by Ctrl-C', async (t) => {
  watching.child.kill('SIGINT');
  const { code, out, err } = await watching.ended;
  t.equal(code, 0, err);
  const told = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { command: string; data: Record<string, unknown> });
  t.ok(told.every(({ command }) => command === 'watch'));
  const states = told.filter(({ data }) => data.type === 'state' && data.kind === 'Batch').map(({ data }) => `${String(data.name).slice(0, 5)} ${data.state}`);
  t.match(states, ['b-b-1 Pending', 'b-b-1 Running', 'b-b-1 Complete', 'b-b-2 Pending', 'b-b-2 Running']);
  t.match(states.at(-1), /Pending/, 'the work order came last');
  t.ok(told.some(({ data }) => data.type === 'prompt' && data.state === 'waiting'));
  t.ok(told.some(({ data }) => data.type === 'alarm' && data.state === 'ActiveAcknowledged'));
  t.notOk(told.some(({ data }) => data.type === 'lost'));
});

t.test('watch ends when its reader has gone, and knows tags by pattern', async (t) => {
  const { code, out, err } = await lineside.shell(`set -o pipefail; lineside watch 'tic101.*' '*.cmd' | head -2`);
  t.equal(code, 0, err);
  t.match(out.trim().split('\n'), [/  tag  \S+ = /, /  tag  \S+ = /]);
  t.match((await text(t, ['watch', 'batchs'], 2)).err, /did you mean batches\?/);
  t.match((await text(t, ['watch', 'tic101.[pv'], 2)).err, /not closed by \]/);
});

t.test('levels in Manual are named by mode and batch show, and one command takes them back', async (t) => {
  const made = await json(t, ['batch', 'create', '--recipe', 'clean-train', '--id', 'M-1', '--param', 'dwellTime=3000']);
  await eventually('it may start', async () => (await here.run(['batch', 'start', 'M-1', '--wait', '--timeout', '60'])).code === 0, PATIENCE_MS);
  const phase = await eventually(
    'a phase runs',
    async () => ((await admin.get(`${SITE}/phases?batch=${made.name}`)).body as { name: string; state: string; stepPath: string }[]).find(({ state }) => state === 'Running'),
    PATIENCE_MS,
  );
  t.match(
    (await text(t, ['mode', phase.name, 'manual', '--kind', 'phase'])).out,
    /is in Manual \(was Automatic\)\nwith it Operation .+, UnitProcedure .+, Procedure .+; none of them goes back by itself/,
  );
  t.match(
    (await text(t, ['batch', 'show', 'M-1'])).out,
    new RegExp(`Manual: Procedure .+, because Phase ${phase.stepPath} was set to Manual at .+; lineside batch automatic M-1 sets them back`),
  );
  t.match(
    (await text(t, ['mode', phase.name, 'Automatic', '--kind', 'Phase'])).out,
    /is in Automatic \(was Manual\)\nabove it still in Manual: Operation .+, UnitProcedure .+, Procedure .+; nothing fires there by itself\nlineside mode .+ --above sets these too/,
  );
  t.match((await json(t, ['mode', phase.name, 'Automatic', '--kind', 'Phase', '--above'])).levels.length, 3);
  t.same((await json(t, ['batch', 'show', 'M-1'])).batch.inManual, []);
  await text(t, ['mode', phase.name, 'Manual', '--kind', 'phase']);
  t.match((await text(t, ['batch', 'automatic', 'M-1'])).out, /^M-1 is back in Automatic: Procedure .+, UnitProcedure .+, Operation .+, Phase .+\n$/);
  t.match((await text(t, ['batch', 'automatic', 'M-1'])).out, /^no level of M-1 is in Manual/);
  t.match((await text(t, ['mode', 'xv101', 'Manual', '--above'], 2)).err, /--above is for Phase, Operation, UnitProcedure/);
  t.match(await json(t, ['batch', 'abort', 'M-1', ...REASON, '--wait', '--timeout', '60']), { batch: { phase: 'Aborted' } });
  await json(t, ['batch', 'reset', 'M-1', ...REASON]);
});

t.test('a phase is run by hand on a unit: started with its parameters, held, gone on with, ended, and its unit made ready', async (t) => {
  await eventually('rx101 is Idle', async () => (await admin.get(`${SITE}/units/rx101`)).body.state === 'Idle', PATIENCE_MS);
  t.match(await json(t, ['phase', 'start', 'heat'], 2), { message: /--unit rx101/ });
  t.match(await json(t, ['phase', 'start', 'nothing', '--unit', 'rx101'], 4), { code: 'unknown_reference' });
  t.match(await json(t, ['phase', 'start', 'heat', '--unit', 'rx101', '--param', 'target'], 2), { message: /--param target: give it as/ });
  t.match(await json(t, ['phase', 'start', 'heat', '--unit', 'rx101', '--kind', 'Step'], 2), { message: /give Phase, Operation, UnitProcedure/ });
  t.match((await text(t, ['phase', 'list'])).out, /nothing is run by hand now/);
  // so slowly that it is never there, however long the commands take
  const { name } = await json(t, ['phase', 'start', 'heat', '--unit', 'rx101', '--param', 'target=90', '--param', 'rate=0.01', '--wait', '--timeout', '60']);
  t.match(await json(t, ['phase', 'list']), [{ name, kind: 'Phase', templateRef: 'heat', unit: 'rx101', state: 'Running' }]);
  t.match((await text(t, ['phase', 'list'])).out, `${name}  Phase  heat`);
  t.match((await text(t, ['phase', 'show', name])).out, /is Running[\s\S]*Phase heat on rx101[\s\S]*takes .*Hold/);
  t.match(await json(t, ['phase', 'start', 'heat', '--unit', 'rx101', '--param', 'target=90'], 4), { code: 'unit_not_idle' });
  t.match(await json(t, ['phase', 'resume', name], 4), { code: 'not-paused', message: /is Running and takes no Resume/ });
  t.match(await json(t, ['phase', 'hold', name, ...REASON, '--wait', '--timeout', '60']), { judged: true, element: { state: 'Held' } });
  t.match(await json(t, ['phase', 'restart', name, '--wait', '--timeout', '60']), { element: { state: 'Running' } });
  t.match(await json(t, ['phase', 'stop', name, ...REASON, '--until', 'Complete', '--timeout', '60'], 1), { code: 'not_reached', state: 'Stopped' });
  t.match((await text(t, ['phase', 'list', '--all'])).out, name);
  t.match(await json(t, ['phase', 'reset', name, ...REASON, '--wait', '--timeout', '60']), { element: { state: 'Idle' } });
  t.match(await json(t, ['phase', 'show', 'nobody'], 4), { status: 404, message: /no run by hand is called nobody/ });
  const [owned] = (await admin.get(`${SITE}/operations?limit=1`)).body as { name: string; batch: string }[];
  t.match(await json(t, ['phase', 'hold', owned?.name ?? '', ...REASON], 4), { code: 'element_owned', message: /belongs to batch / });
});

t.test('a write to a simulated module says that it forces the channel, and a command ends that', async (t) => {
  t.match(
    (await text(t, ['io', 'write', 'io-rx101', 'xv105.zso', 'true'])).out,
    /^io-rx101 is simulated: xv105\.zso is forced to true, and stays so until lineside io release io-rx101 xv105\.zso\n$/,
  );
  t.match((await text(t, ['io', 'list', 'io-rx101'])).out, /xv105\.zso .*\(forced by anna\)/);
  t.match((await text(t, ['io', 'release', 'io-rx101', 'xv105.zso'])).out, /^io-rx101:xv105\.zso: the simulation goes on with it\n$/);
  t.notMatch((await text(t, ['io', 'list', 'io-rx101'])).out, /forced/);
  t.match((await text(t, ['io', 'release', 'io-rx101'])).out, /^no channel of io-rx101 was forced\n$/);
  t.match(await json(t, ['io', 'release', 'io-rx101', 'none'], 4), { code: 'unknown_channel' });
  t.match((await text(t, ['io', 'force', 'io-rx101', 'xv105.zso', 'true'])).out, /is forced to true/);
  t.match(
    (await text(t, ['io', 'show', 'io-rx101'])).out,
    /^io-rx101 is Connected; outputs are live.*\nchannel +address +direction +raw +quality +age +owner +tags +held\n[^]*xv105\.zso .*xv105\.\w+ +\(forced by anna\)/,
  );
  await ran('io release', ['io-rx101']);
  t.match((await text(t, ['io', 'list'])).out, /^module +protocol +state +outputs +last good +errors +message\n[^]*io-rx101 +simulation +Connected +live/);
  t.match((await text(t, ['io', 'statistics', 'io-rx101'])).out, /^nothing is counted of io-rx101: the module is simulated/);
  t.match(await json(t, ['io', 'restart', 'io-rx101', '--reason', 'asked for by the suite']), { ioModule: 'io-rx101', status: 'Restarting' });
});

t.test('an I/O module that an apply takes to Failed is told by its wait, and one that works ends it', async (t) => {
  const given = path.join(folder, 'loose.yaml');
  const applied = (command: string) => {
    const behaviors = `[{ address: lye.zs, type: ValveFeedback, params: { command: ${command}, travelTime: 800ms } }]`;
    const channels = '[{ address: lye.cmd, direction: output, dataType: bool }, { address: lye.zs, dataType: bool }]';
    writeFileSync(
      given,
      `apiVersion: physical.lineside.io/v1alpha1\nkind: IOModule\nmetadata: { name: loose, namespace: site-demo }\nspec:\n  { protocol: simulation, controllerRef: edge-1, channels: ${channels}, simulation: { behaviors: ${behaviors} } }\n`,
    );
    return ran('apply', [], { filename: [given], wait: true, timeout: '60' });
  };
  const told = 'IOModule loose (demo) is Failed: ';
  t.match(await applied('lye.cmd'), { code: 0 });
  const failed = await applied('lya.cmd');
  t.match(failed, { code: 1, data: { code: 'module_failed', modules: [{ site: 'demo', name: 'loose' }] } });
  t.match(failed.text, `${told}`);
  t.match(failed.text, /refers to lya\.cmd/);
  t.match(await applied('lye.cmd'), { code: 0 }, 'one that is mended');
  await admin.delete(`${SITE}/iomodules/loose`);
});

t.test('a device in fault is listed, and reset by a command that moves nothing unasked', async (t) => {
  const reset = (options: Given = {}, module = 'xv105') => ran('fault reset', [module], options);
  const untilReset = (options: Given = {}) => eventually('it is at rest', async () => [await reset(options)].find(({ code }) => code === 0), PATIENCE_MS);
  await untilReset(); // its limit switches have been forced before
  t.match((await text(t, ['fault', 'list'])).out, /^no device of demo is in fault\n$/);
  t.strictSame(await reset(), { code: 0, data: { controlModule: 'xv105', reset: [] }, text: 'xv105 is not in fault: nothing was reset' });
  // a valve whose limit switches do not follow
  await ran('mode', ['xv105', 'Manual']);
  await ran('io write', ['io-rx101', 'xv105.zso', 'false']);
  await ran('io write', ['io-rx101', 'xv105.zsc', 'true']);
  await ran('tag write', ['xv105.cmd', 'true']);
  t.match(await ran('tag wait', ['xv105.fault', 'true'], { timeout: '60' }), { code: 0 });
  t.match(await json(t, ['fault', 'list', '--unit', 'rx101']), [{ controlModule: 'xv105', unit: 'rx101', tag: 'xv105.fault', quality: 'Good' }]);
  t.match(await ran('fault list'), { text: /^module +unit +tag +device +quality\nxv105 +rx101 +xv105\.fault +in fault +Good$/ });
  t.equal((await here.run(['__complete', '--', 'fault', 'reset', ''])).out, 'xv105\n', 'what may be reset is offered');

  t.match(await json(t, ['fault', 'reset', 'xv105'], 4), { code: 'would_move', status: 409, blocks: ['v'], message: /Add --moves when nobody is at the equipment/ });
  t.match((await ran('fault list')).data, { length: 1 }, 'a refusal changes nothing');
  await ran('io release', ['io-rx101']);
  // a broken wire, the usual cause, does not hide the fault that it has caused
  const { simulation } = (await admin.get(`${SITE}/iomodules/io-rx101`)).body as { simulation: object };
  const faults = [{ name: 'wire', address: 'xv105.zso', type: 'WireBreak', params: { value: 0 } }];
  t.equal((await admin.put(`${SITE}/iomodules/io-rx101`, { simulation: { ...simulation, faults } })).status, 200);
  await eventually('it is listed as what it is', async () => [/^xv105 +rx101 +xv105\.fault +in fault +Bad$/m.exec((await ran('fault list')).text)?.[0]], PATIENCE_MS);
  t.equal((await admin.put(`${SITE}/iomodules/io-rx101`, { simulation: { ...simulation, faults: [] } })).status, 200);
  t.match(await untilReset({ moves: true, reason: 'nobody is there' }), { text: /^the fault of xv105 is reset \(v\)/ });
  t.match(await ran('tag wait', ['xv105.opened', 'true'], { timeout: '60' }), { code: 0 });
  t.same((await ran('fault list')).data, []);

  const tagsOf = async (query: string) => (await admin.get(`${SITE}/tags${query}`)).body as readonly { readonly deviceFault?: true }[];
  const [allTags, listed] = [await tagsOf(''), await tagsOf('?deviceFault=true')];
  t.ok(listed.length > 0 && listed.length * 4 < allTags.length, `${listed.length} of ${allTags.length}`);
  t.same(
    listed,
    allTags.filter(({ deviceFault }) => deviceFault),
    'none is left out',
  );
  t.match(await ran('fault list', [], { unit: 'nobody' }), { code: 4 }, 'a unit that there is not has no devices without a fault');

  const { items } = (await admin.get('/api/v1/audit?category=device-reset&order=desc&limit=1')).body as { items: Record<string, unknown>[] };
  t.match(items, [{ result: 'Success', target: { kind: 'ControlModule', name: 'xv105' }, operatorReason: 'nobody is there' }], 'with the reason on record');

  t.match(await reset({}, 'li101'), { code: 4, data: { code: 'no_device', status: 409 } });
  t.match(await reset({}, 'nobody'), { code: 4, data: { code: 'not_found', status: 404 } });
  await ran('tag write', ['xv105.cmd', 'false']);
  await ran('mode', ['xv105', 'Automatic']);
});

t.test('a resource is deleted without a reason: no route of a kind takes a body, and one that is typed is told so', async (t) => {
  const { paths } = (await admin.get('/api/v1/openapi.json')).body as { paths: Record<string, { delete?: { requestBody?: object } }> };
  const deleted = FAMILIES.flatMap(({ path: at, isOfSite }) => (at === undefined ? [] : (paths[`/api/v1/${isOfSite ? 'sites/{site}/' : ''}${at}/{name}`]?.delete ?? [])));
  t.ok(deleted.length > 15);
  t.same(
    deleted.filter(({ requestBody }) => requestBody !== undefined),
    [],
  );
  t.equal((await admin.post(`${SITE}/areas`, { name: 'spare' })).status, 201);
  t.match((await text(t, ['delete', 'area', 'spare', ...REASON], 2)).err, /area is deleted without a reason: leave --reason out/);
  t.match((await text(t, ['delete', 'area', 'spare'])).out, /removed Area spare/);
});

t.test('the log of a unit is read line by line', async (t) => {
  const { out } = await text(t, ['logs', 'rx101', '--level', 'trace', '-o', 'json']);
  t.not(out, '', 'it has told something');
  for (const line of out.trim().split('\n')) t.match(JSON.parse(line), { command: 'logs', data: { ts: /^20/, message: /./ } });
  t.match((await text(t, ['logs', 'rx101', '--since', 'yesterday'], 2)).err, /--since yesterday: give a duration/);
  t.match((await text(t, ['logs', 'rx999'], 4)).err, /rx999/);
});

t.test('exit codes and envelopes say who said no', async (t) => {
  t.match(await json(t, ['batch', 'show', 'nobody'], 4), { code: 'not_found', status: 404 });
  t.match(await json(t, ['batch', 'list', '--nix'], 2), { code: 'usage', message: /unknown option '--nix'/ });
  t.match((await text(t, ['batch', 'begin'], 2)).err, /unknown command 'begin'/);
  t.match(await json(t, ['batch', 'list', '--state', 'Nix'], 4), { status: 400 });

  await admin.post('/api/v1/auth/users', { username: 'rita', displayName: 'Rita', password: PASSWORD, groups: ['lineside-viewer'] });
  const first = await new ApiClient(base).post('/api/v1/auth/login', { username: 'rita', password: PASSWORD });
  const own = 'a password of her own';
  await new ApiClient(base).with(`Bearer ${first.body.accessToken}`).post('/api/v1/auth/password', { currentPassword: PASSWORD, newPassword: own });
  const rita = new HereCommand(mkdtempSync(path.join(folder, 'rita-')));
  t.equal((await rita.run(['login', base, '--user', 'rita', '--password-stdin'], PASSWORD)).code, 5, 'the old password is none');
  t.equal((await rita.run(['login', base, '--user', 'rita', '--password-stdin'], own)).code, 0);
  const forbidden = await rita.run(['batch', 'create', '--recipe', 'resin-a', '--id', 'B-9', '-o', 'json']);
  t.equal(forbidden.code, 5);
  t.match(JSON.parse(forbidden.out), { ok: false, exitCode: 5, error: { status: 403, code: 'action_missing' } });
  t.equal((await rita.run(['batch', 'list'])).code, 0);

  const nobody = new HereCommand(mkdtempSync(path.join(folder, 'nobody-')));
  t.match(await nobody.run(['batch', 'list']), { code: 5, err: /signed in to no box/ });
  const away = JSON.parse(readFileSync(boxesFile, 'utf8'));
  const awayFolder = mkdtempSync(path.join(folder, 'away-'));
  mkdirSync(path.join(awayFolder, 'lineside'));
  writeFileSync(path.join(awayFolder, 'lineside/boxes.json'), JSON.stringify({ current: 'away', boxes: { away: { ...away.boxes.demo, url: 'http://127.0.0.1:1' } } }));
  t.match(await new HereCommand(awayFolder).run(['batch', 'list']), { code: 6, err: /127\.0\.0\.1:1 does not answer/ });
  t.match(await new LinesideCommand(awayFolder).run(['watch', '-o', 'json']), { code: 6, out: /"ok":false,"exitCode":6/ });
});

t.test('bash completes commands, options, words and names on the box', async (t) => {
  const completed = async (...words: readonly string[]): Promise<readonly string[]> => {
    const quoted = ['lineside', ...words].map((word) => `'${word}'`).join(' ');
    const { out, err } = await lineside.shell(
      `. <(lineside completion bash); COMP_WORDS=(${quoted}); COMP_CWORD=${words.length}; $(complete -p lineside | sed 's/.*-F \\([^ ]*\\).*/\\1/'); printf '%s\\n' "\${COMPREPLY[@]}"`,
    );
    t.equal(err, '');
    return out.trim().split('\n');
  };
  t.same(await completed('batch', 'st'), ['start', 'stop']);
  t.same(await completed('batch', 'start', 'B-1', '--wa'), ['--wait']);
  t.same(await completed('watch', 'ba'), ['batches']);
  t.same(await completed('batch', 'list', '-o', 'j'), ['json']);
  t.same(await completed('batch', 'create', '--recipe', 'resin'), ['resin-a']);
  t.same(await completed('batch', 'show', 'B-'), ['B-1', 'B-2']);
  t.same(await completed('logs', 'rx'), ['rx101']);
  t.match(await text(t, ['completion', 'fihs'], 2), { err: /did you mean fish/ });
});

t.test('the record of a batch that is removed stays, and is found by its own name', async (t) => {
  const { name = '' } = ((await ran('records list')).data as { name: string; batchID: string }[]).find(({ batchID }) => batchID === 'B-2') ?? {};
  t.equal((await admin.delete(`${SITE}/batches/${name}`)).status, 204);
  t.match(await ran('records show', [name]), { code: 0, text: /^record of batch B-2 / });
  t.match(await ran('records show', ['B-2']), { code: 4, data: { code: 'not_found' } });
});

t.test('what is signed wants a password that is minutes old, once for several commands; a token that has ended is renewed', async (t) => {
  t.match(await json(t, ['recipe', 'new-version', 'resin-a', '--bump', 'minor']), { phase: 'Draft', spec: { version: '1.1.0' } });
  const draft = (await json(t, ['recipe', 'list'])).find(({ phase }: { phase: string }) => phase === 'Draft').name as string;
  t.match(await json(t, ['recipe', 'bindings', draft]), { violations: 0 });
  t.match(await json(t, ['recipe', 'release', draft, ...REASON], 4), { code: 'recipe_phase', status: 409 });
  clock.passedMs += 6 * MINUTE_MS;
  t.match(await json(t, ['recipe', 'approve', draft, ...REASON], 2), { message: /password of anna, to sign with.*--password-stdin/ });
  const approved = await lineside.run(['recipe', 'approve', draft, ...REASON, '--password-stdin'], `${PASSWORD}\n`);
  t.match(approved, { code: 0, out: /is Approved, signed by anna/ });
  t.match(await json(t, ['recipe', 'release', draft, ...REASON]), { phase: 'Released' });
  t.match(await json(t, ['recipe', 'activate', draft, ...REASON]), { phase: 'Effective' });
  t.match((await text(t, ['recipe', 'show', draft])).out, /is Effective/);

  const before = JSON.parse(readFileSync(boxesFile, 'utf8')).boxes.demo;
  clock.passedMs += 16 * MINUTE_MS;
  await text(t, ['batch', 'list']);
  const after = JSON.parse(readFileSync(boxesFile, 'utf8')).boxes.demo;
  t.not(after.accessToken, before.accessToken, 'a new token is kept');
  t.equal(statSync(boxesFile).mode & 0o777, 0o600);
  await text(t, ['logout']);
  t.equal((await here.run(['batch', 'list'])).code, 5);
});
