/** What an administrator and a reviewer do from a shell: accounts, API keys, legal holds, reviews, and the audit trail taken away; against a whole appliance. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { KnownBoxes } from '../../src/cli/remote/boxes.js';
import type { Given } from '../../src/cli/remote/command.js';
import { EXIT, failureOf } from '../../src/cli/remote/outcome.js';
import type { Terminal } from '../../src/cli/remote/terminal.js';
import { verify } from '../../src/cli/verify.js';
import { startAppliance } from '../../src/main.js';
import { systemClock } from '../../src/platform/base/clock.js';
import { readSettings } from '../../src/settings.js';
import { ApiClient } from '../support/api-client.js';
import { CHEAP_PASSWORDS } from '../support/cheap-passwords.js';
import { ownFolder } from '../support/own-folder.js';
import { boxContext, rowOf, silentTerminal } from './support.js';

process.env.LINESIDE_LOG_LEVEL ??= 'silent';
const PASSWORD = 'correct horse battery';
const folder = ownFolder(t);
const appliance = await startAppliance(
  readSettings(
    [],
    { LINESIDE_GATEWAY__HTTPPORT: '0', LINESIDE_GATEWAY__LISTEN: '127.0.0.1', LINESIDE_GATEWAY__OPERATINGMODE: 'development', ...CHEAP_PASSWORDS },
    path.join(folder, 'data'),
  ),
  { version: '0.0.0-test', commit: '' },
  systemClock,
);
t.teardown(() => appliance.stop());
const base = `http://127.0.0.1:${appliance.port}`;
const api = new ApiClient(base);
const code = readFileSync(path.join(folder, 'data/commissioning-code'), 'utf8').trim();
await api.post('/api/v1/auth/first-admin', { code, username: 'anna', password: PASSWORD });
const { body: session } = await api.post('/api/v1/auth/login', { username: 'anna', password: PASSWORD });
const admin = api.with(`Bearer ${session.accessToken}`);
await admin.post('/api/v1/sites', { name: 'north' });
const boxes = new KnownBoxes(path.join(folder, 'config'));
boxes.keep('box', { url: base, username: 'anna', accessToken: session.accessToken, refreshToken: '', site: '' });

const run = (words: string, args: readonly string[] = [], options: Given = {}, terminal: Terminal = silentTerminal()) => {
  const context = boxContext(boxes, args, { box: 'box', ...options }, terminal);
  return rowOf(words).run({ ...context, several: args.slice(1) });
};
const typing = (text: string): Terminal => ({ ...silentTerminal(), read: () => Promise.resolve(`${text}\n`) });

t.test('AUTH: accounts are made, put into groups, disabled, given a password and closed; no password stands on the command line', async (t) => {
  const made = await run('user add', ['olga'], { name: 'Olga Meier', group: ['lineside-operator'], passwordStdin: true }, typing(PASSWORD));
  t.equal(made.text, 'olga is in lineside-operator; the password is changed at the first sign-in');
  t.match(await run('user groups', ['olga', 'lineside-lead-operator', 'lineside-site-north']), {
    text: 'olga is in lineside-lead-operator, lineside-site-north, and in no other group',
  });
  t.match(await run('user list'), { text: /\nolga +Olga Meier +enabled, new password first +no +never +lineside-lead-operator, lineside-site-north/ });
  await run('user password', ['olga'], { keepPassword: true, passwordStdin: true }, typing('another long one'));
  const { body } = await api.post('/api/v1/auth/login', { username: 'olga', password: 'another long one' });
  t.match(await run('user sessions', ['olga']), { text: new RegExp(`\\n${body.sessionId} +olga`) });
  t.match(await run('user end-session', [body.sessionId]), { text: /has ended$/ });
  t.match(await run('user disable', ['olga']), { text: /cannot sign in any more/ });
  t.equal((await api.post('/api/v1/auth/login', { username: 'olga', password: 'another long one' })).status, 401);
  t.match(await run('user enable', ['olga']), { text: 'olga can sign in' });
  await t.rejects(run('user groups', ['olga', 'lineside-operater']), /lineside-operater/);
  t.match(await run('user show', ['olga']), { text: /email +-/ });
  for (let tries = 0; tries < 20; tries += 1) await api.post('/api/v1/auth/login', { username: 'olga', password: 'not hers' });
  for (const words of ['user list', 'user show']) t.match(await run(words, ['olga']), { text: /locked until 20/ }, words);
  await run('user unlock', ['olga']);
  await run('user delete', ['olga']);
  t.notMatch((await run('user list')).text, /olga/);
  await t.rejects(run('user unlock', ['olga']), /lock-out of olga/);
});

t.test('KEY: an API key is shown once or written into a file of its owner, replaced with an overlap, and revoked', async (t) => {
  const file = path.join(folder, 'mes.key');
  const made = await run('key create', ['mes'], { expires: '90d', out: file });
  const key = readFileSync(file, 'utf8').trim();
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.notMatch(JSON.stringify(made), key, 'it stands in the file and in no output');
  t.equal((await api.with(`ApiKey ${key}`).get('/api/v1/mes/sites/north/work-orders')).status, 200);
  await t.rejects(run('key create', ['mes2'], { out: file }), /EEXIST/, 'what cannot be kept is not made');
  t.notMatch((await run('key list')).text, /mes2/);
  const rotated = await run('key rotate', ['mes'], { overlap: '2h' });
  t.match(rotated.text, /the old one is accepted until .*keep it now, it is not shown again:\nlsk_/);
  t.match(await run('key list'), { text: /\nmes +north +lsk_\S+… .* until .*, used 20/ });
  await run('key end-previous', ['mes']);
  t.equal((await api.with(`ApiKey ${key}`).get('/api/v1/mes/sites/north/work-orders')).status, 401);
  t.match(await run('key expire', ['mes', 'never']), { text: 'API key mes never expires' });
  await t.rejects(run('key expire', ['mes', 'soon']), /--expires soon: give a duration/);
  for (const expires of ['5', '999999999d']) await t.rejects(run('key create', ['mes3'], { expires }), new RegExp(`--expires ${expires}: give a duration`), expires);
  const empty = await admin.post('/api/v1/mes/apikeys', {});
  t.match(empty.body, { code: 'missing_field', field: 'name', fields: ['name', 'site'], error: 'fields name, site are required' }, 'what is missing is told together');
  await run('key revoke', ['mes']);
  t.match(await run('key list'), { text: 'there is no API key' });
});

t.test('HOLD: a hold is set on a site or a time, told with its scope, and lifted', async (t) => {
  await t.rejects(run('hold set', ['claim-7'], { from: '30d', reason: 'claim 7 of the customer' }), /a time has two ends/);
  await t.rejects(run('hold set', ['claim-7'], { batch: ['B-1'], reason: 'claim 7 of the customer' }), /B-1/);
  for (const from of ['30', '999999999d']) await t.rejects(run('hold set', ['claim-7'], { from, to: '1d', reason: 'claim 7 of the customer' }), /--from .*: give a duration/, from);
  t.match(await run('hold set', ['claim-7'], { reason: 'claim 7 of the customer' }), { text: /^legal hold claim-7 stands: all of north\./ });
  await t.rejects(
    admin.delete('/api/v1/sites/north').then(({ body }) => Promise.reject(new Error(body.error))),
    /kept by legal hold claim-7/,
  );
  t.match(await run('hold show', ['claim-7']), { text: /^legal hold claim-7 is Standing: all of north\nset by anna at .*: claim 7 of the customer$/ });
  await run('hold set', ['claim-8'], { reason: 'claim 8\nlifted by anna at 2026' });
  t.match(await run('hold show', ['claim-8']), { text: /: claim 8\\nlifted by anna at 2026$/ }, 'a reason forges no line');
  await run('hold lift', ['claim-7'], { reason: 'claim 7 is settled' });
  t.match(await run('hold list', [], { state: 'lifted' }), { text: /\nclaim-7 +Lifted +all of north/ });
});

t.test('REVIEW: trail and access are reviewed and signed, and the reviews told in words', async (t) => {
  t.match(await run('review due'), { text: /nobody is reminded of reviews/ });
  t.match(await run('review list'), { text: 'no review was signed yet' });
  t.match(await run('review list', [], { type: 'user-access' }), { text: 'no review user-access was signed yet' });
  const { data, text } = await run('review access');
  t.match(text, /\nanna +anna +local +yes +admin +all +lineside-admin/);
  const { digest } = data as { readonly digest: string };
  await t.rejects(run('review sign user-access', ['perhaps'], { digest, remarks: 'x' }), /give Accepted or Findings/);
  const signed = await run('review sign user-access', ['accepted'], { digest, remarks: 'one administrator' });
  t.match(signed.text, /^review \S+ is signed: 1 accounts, \d+ API keys, 0 panels, Accepted$/);
  t.match(await run('review sign audit-trail', ['Findings'], { from: '1h', remarks: 'a key without a ticket' }), { text: /the whole box, 20.* records, Findings$/ });
  const { data: reviews, text: table } = await run('review list');
  t.match(table, /audit-trail +Findings +the whole box, .*\n.*user-access +Accepted +1 accounts/);
  for (const { id } of reviews as { readonly id: string }[])
    t.match(await run('review show', [id]), { exitCode: 0, text: /^review of the (audit trail of the whole box|access of 1 accounts,).*it still is what was signed/s });
});

t.test('AUDIT: the trail is taken away whole and verified without the box', async (t) => {
  const [file, key] = [path.join(folder, 'trail.ndjson'), path.join(folder, 'box.pem')];
  t.match(await run('audit export', [file]), { exitCode: 0, text: /records, 1 to \d+; it came whole, signed by this box/ });
  await t.rejects(run('audit export', [file]), /is there already/);
  t.match(await run('audit key', [key]), { text: /public key \S+ of this box/ });
  const out: string[] = [];
  t.equal(await verify(file, { key }, { out: (text) => void out.push(text), say: (text) => void out.push(text) }), 0, out.join(''));
  const part = path.join(folder, 'hour.ndjson');
  t.match(await run('audit export', [part], { from: '1h' }), { exitCode: 0 });
  t.notOk(existsSync(`${part}.part`));
  const failing = async (name: string) => failureOf(await run('audit export', [path.join(folder, name)]).catch((fault: unknown) => fault), base);
  t.match(await failing('nowhere/x'), { exitCode: EXIT.usage, message: /nowhere\/x\.part: does not exist$/ }, 'it is not the box that does not answer');
  writeFileSync(path.join(folder, 'other.part'), 'of another export');
  t.match(await failing('other'), { exitCode: EXIT.usage, message: /other\.part is there already: another export writes it/ });
  t.equal(readFileSync(path.join(folder, 'other.part'), 'utf8'), 'of another export');
  t.match((await admin.get('/api/v1/audit?category=backup')).body.items[0], { action: 'Execute', target: { kind: 'AuditTrail' } }, 'that it was read is on record');
});
