/** The audit trail on its way to a receiver of syslog: whatever happens to line, receiver and box, every record arrives, and what cannot is told. */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { eventually } from '../../support/api-client.js';
import { readSettings, type Settings } from '../../../src/settings.js';
import { Backoff } from '../../../src/domains/audit/syslog/backoff.js';
import { SyslogSender } from '../../../src/domains/audit/syslog/sender.js';
import { type Clock, systemClock } from '../../../src/platform/base/clock.js';
import { openDeviceKeys } from '../../../src/platform/ledger/keys.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import { openQueries } from '../../../src/platform/ledger/queries.js';
import { component } from '../../../src/platform/store/audit-record.js';
import { Store } from '../../../src/platform/store/store.js';
import { unacknowledgedIn } from '../../../src/platform/syslog/unacknowledged.js';
import { Authority } from '../../support/authority.js';
import { openssl } from '../../support/openssl.js';
import { ownFolder } from '../../support/own-folder.js';
import { Between, SyslogReceiver } from '../../support/syslog-receiver.js';

const folder = ownFolder(t);
const plant = new Authority(folder, 'plant');
const other = new Authority(folder, 'other');
const pair = plant.sign('receiver', 'urn:receiver');
/** Seconds pass in tens of milliseconds. */
const TIMES = 40;
const clock: Clock = { wallMs: () => systemClock.wallMs(), monoMs: () => systemClock.monoMs() * TIMES, after: (ms, call) => systemClock.after(ms / TIMES, call) };

interface Box {
  readonly dataDir: string;
  readonly store: Store;
  readonly sender: SyslogSender;
  readonly archive: (first: number, last: number) => Promise<void>;
  readonly end: () => Promise<void>;
}

type Wanted = Partial<Pick<Settings, 'auditSyslogAddress' | 'auditSyslogCaFile' | 'auditSyslogCertFile' | 'auditSyslogKeyFile' | 'auditSyslogConfirmIntervalMs'>>;

async function box(
  t: Pick<Test, 'teardown'>,
  port: number,
  { dataDir = ownFolder(t), wanted = {}, answerMs = 20_000, forgetful = false }: { dataDir?: string; wanted?: Wanted; answerMs?: number; forgetful?: boolean } = {},
): Promise<Box> {
  const ledger = await openLedger(dataDir);
  const store = new Store(ledger, clock, undefined, []);
  await store.open(0);
  const queries = openQueries(dataDir, () => store.recorded);
  const { hashesOf } = queries;
  if (forgetful)
    queries.hashesOf = () => {
      queries.hashesOf = hashesOf;
      throw new Error('the query thread is gone');
    };
  const settings = {
    ...readSettings([], {}, dataDir),
    auditSyslogAddress: '127.0.0.1',
    auditSyslogPort: port,
    auditSyslogCaFile: plant.file(),
    auditSyslogConfirmIntervalMs: 1000,
    ...wanted,
  };
  const { deviceId } = openDeviceKeys(dataDir);
  const source = { facility: 'audit', hostname: 'line3.plant.example', appName: 'lineside', procId: '7', deviceId } as const;
  const sender = new SyslogSender({ settings, store, queries, clock, log: pino({ level: 'silent' }), dataDir, source, answerMs, backoff: new Backoff(() => 0.5, 400) });
  let isOpen = true;
  const end = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await sender.stop();
    await queries.close();
    await ledger.close();
  };
  t.teardown(() => end());
  const archive = async (first: number, last: number): Promise<void> => {
    await ledger.archived(await queries.writeArchive({ first, last }));
    while ((await queries.hashesOf([last])).size > 0) await new Promise((resolve) => setImmediate(resolve));
  };
  return { dataDir, store, sender, archive, end };
}

async function written(store: Store, count: number, details: Record<string, unknown> = {}): Promise<void> {
  const audits = Array.from({ length: count }, (_, index) => ({
    site: 'north',
    actor: component('test'),
    action: 'Update' as const,
    category: 'unit',
    target: { kind: 'Unit', name: `u${index % 10}`, site: 'north' },
    result: 'Success' as const,
    details: { index, ...details },
    correlationID: 'c',
  }));
  await store.write({ audits });
}

async function receiver(t: Pick<Test, 'teardown'>, given = pair, ca?: string): Promise<SyslogReceiver> {
  const made = new SyslogReceiver(given, ca);
  await made.listen();
  t.teardown(() => made.close());
  return made;
}

/** Settles when the health is so; the sender looks as often itself. */
async function until(isSo: () => boolean): Promise<void> {
  await eventually('the health is so', async () => isSo(), undefined, 2);
}

const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);
const distinct = (sequences: readonly number[]): number[] => [...new Set(sequences)].sort((a, b) => a - b);

t.test('AUDIT: every record arrives as a message of RFC 5424 that proves itself, once while nothing fails, also over a restart', async (t) => {
  const heard = await receiver(t);
  const first = await box(t, heard.port);
  await written(first.store, 3, { text: 'Grüße 🙂 "quoted" ] \\' });
  await written(first.store, 1, { long: 'x'.repeat(20_000) });
  first.sender.start();
  await until(() => first.sender.health.confirmed === 4);
  t.match(first.sender.health, { configured: true, state: /connect/, receiver: `127.0.0.1:${heard.port}`, sent: 4, lag: 0, gaps: [], message: '' });
  await first.end();
  const [one, , , long] = heard.of('AUDIT');
  t.match(one, {
    priority: 13 * 8 + 6,
    hostname: 'line3.plant.example',
    appName: 'lineside',
    procId: '7',
    data: { sequence: '1', hash: /^[0-9a-f]{64}$/, deviceId: /^[0-9a-f]{32}$/ },
  });
  t.match(JSON.parse(one?.text ?? ''), { sequence: 1, details: { text: 'Grüße 🙂 "quoted" ] \\' } });
  t.equal(one?.at, JSON.parse(one?.text ?? '').timestamp);
  const canonical = (one?.text ?? '').replaceAll(/\\u([0-9a-f]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  t.equal(createHash('sha256').update(canonical).digest('hex'), one?.data.hash, 'the text is what was hashed');
  t.match(long?.data, { cut: 'true', octets: /^2\d{4}$/ });
  t.ok((long?.octets ?? 0) < 2048 && JSON.parse(long?.text ?? '').details === undefined, 'of what is too long what it is about is sent');
  const again = await box(t, heard.port, { dataDir: first.dataDir });
  await written(again.store, 2);
  again.sender.start();
  await until(() => again.sender.health.confirmed === 6);
  t.same(heard.sequences, upTo(6), 'nothing twice');
  t.same(heard.strange, []);
  await again.end();
  const forgetful = await box(t, heard.port, { dataDir: first.dataDir, forgetful: true });
  forgetful.sender.start();
  await until(() => heard.sequences.length === 12);
  t.same(heard.sequences, [...upTo(6), ...upTo(6)], 'where nobody could say what was sent, all is sent again');
  await until(() => forgetful.sender.health.confirmed === 6);
});

t.test('AUDIT: whatever breaks the connection, and a power cut of the box, nothing is left out; what arrives twice has the same hash', async (t) => {
  const heard = await receiver(t);
  let { dataDir, store, sender, end } = await box(t, heard.port);
  await written(store, 1500);
  let broken = 0;
  heard.heard = ({ data }) => {
    if (Number(data.sequence) % 400 !== 0 || broken >= 3) return;
    broken += 1;
    heard.reset();
  };
  sender.start();
  await heard.until(() => broken === 3);
  heard.heard = () => undefined;
  await heard.until(() => heard.sequences.includes(700));
  heard.reset(); // as the cut of the power does
  await end();
  ({ dataDir, store, sender, end } = await box(t, heard.port, { dataDir }));
  await written(store, 10);
  sender.start();
  await until(() => sender.health.confirmed === 1510);
  t.same(distinct(heard.sequences), upTo(1510));
  const hashes = new Map<string, Set<string>>();
  for (const { data } of heard.of('AUDIT')) hashes.set(data.sequence ?? '', (hashes.get(data.sequence ?? '') ?? new Set()).add(data.hash ?? ''));
  t.ok([...hashes.values()].every((found) => found.size === 1));
  t.ok(heard.sequences.length > 1510, 'some of them arrived twice');
});

t.test('AUDIT: what was archived before it could be sent is read from its file; a file that is gone is a gap that is told, and no end', async (t) => {
  const heard = await receiver(t);
  const { store, sender, dataDir, archive } = await box(t, heard.port);
  await written(store, 1200);
  await archive(1, 600);
  await archive(601, 900);
  const file = path.join(dataDir, 'audit-archive', 'audit-000000000601-000000000900.ndjson.gz');
  const aside = path.join(dataDir, 'aside');
  renameSync(file, aside);
  sender.start();
  await until(() => sender.health.confirmed >= 1201);
  const [gap] = heard.of('GAP');
  t.match(gap, { priority: 13 * 8 + 3, data: { first: '601', last: '900' } });
  t.match(JSON.parse(gap?.text ?? ''), { first: 601, last: 900, why: /audit-000000000601-000000000900.ndjson.gz is not in the archive folder/ });
  t.match(sender.health.gaps, [{ first: 601, last: 900 }]);
  t.same(heard.sequences, [...upTo(600), ...upTo(1201).slice(900)]);
  t.match(
    JSON.parse(heard.of('AUDIT').at(-1)?.text ?? ''),
    { category: 'audit-syslog', result: 'Failed', details: { firstSequence: 601, lastSequence: 900 } },
    'the gap is on record itself',
  );
  t.match(sender.trouble(), {
    severity: 'Medium',
    message: /^audit records 601 to 900 were not sent away: .* is not in the archive folder; put back what is missing, and they are sent$/,
  });
  copyFileSync(aside, file);
  await until(() => sender.health.gaps.length === 0);
  t.same(distinct(heard.sequences), upTo(sender.health.confirmed), 'what was put back is sent');
  t.equal(sender.trouble(), undefined);
  t.match(JSON.parse(readFileSync(path.join(dataDir, 'audit-syslog.json'), 'utf8')), { gaps: [] });
});

t.test('AUDIT: a receiver that takes nothing, or does not end a connection, confirms nothing, and is told in words', async (t) => {
  const heard = await receiver(t);
  heard.frozen = true;
  const { store, sender } = await box(t, heard.port, { answerMs: 4000 });
  await written(store, 1000, { long: 'y'.repeat(6000) });
  sender.start();
  await until(() => sender.health.message !== '');
  t.match(sender.health, { state: 'waiting', confirmed: 0, message: /takes nothing any more|has not acknowledged/ });
  heard.frozen = false;
  heard.neverEnds = true;
  await until(() => /does not end a connection that this box ends/.test(sender.health.message));
  t.equal(sender.health.confirmed, 0);
  await until(() => sender.trouble() !== undefined);
  t.match(sender.trouble(), { severity: 'Medium', message: /audit records are not sent away/ });
  heard.neverEnds = false;
  heard.reset();
  await until(() => sender.health.confirmed >= 1000);
  t.match(sender.trouble(), undefined);
  t.same(distinct(heard.sequences), upTo(1000));
});

t.test('AUDIT: something between box and receiver that takes what is sent, and even ends the connection in its place, confirms nothing', async (t) => {
  const heard = await receiver(t);
  const between = await Between.listen(heard.port);
  t.teardown(() => between.close());
  const { store, sender } = await box(t, between.port, { answerMs: 4000 });
  await written(store, 5);
  sender.start();
  await until(() => heard.connections === 2 && sender.health.state === 'connected');
  between.mode = 'ends';
  await written(store, 15);
  await until(() => sender.health.state === 'waiting');
  t.match(sender.health, { confirmed: 5, message: /was cut off while it had to show what it has read/ });
  between.mode = 'swallows';
  await until(() => /does not (answer|end a connection)/.test(sender.health.message));
  t.equal(sender.health.confirmed, 5);
  between.mode = 'passes';
  await until(() => sender.health.confirmed === 20);
  t.same(distinct(heard.sequences), upTo(20));
  await until(() => sender.health.state === 'connected');
  between.mode = 'refuses';
  between.reset();
  await until(() => /broken the connection/.test(sender.health.message));
  between.mode = 'passes';
  await until(() => sender.health.state === 'connected' && sender.health.message === '');
});

t.test('AUDIT: nothing is sent to whoever cannot prove to be the receiver, and health says why', async (t) => {
  const cases: readonly [what: string, given: typeof pair, wanted: Wanted, message: RegExp][] = [
    ['another authority', other.sign('receiver', 'urn:receiver'), {}, /not of an authority that is trusted \(audit\.syslog\.caFile\)/],
    ['another name', pair, { auditSyslogAddress: '127.0.0.2' }, /is for another name \(audit\.syslog\.address\)/],
    ['an old one', expired(), {}, /has expired/],
    ['a file that is none', pair, { auditSyslogCaFile: path.join(folder, 'none.pem') }, /audit\.syslog\.caFile: .*none\.pem cannot be read \(ENOENT\)/],
  ];
  for (const [what, given, wanted, message] of cases) {
    const made = new SyslogReceiver(given);
    await made.listen(0, '0.0.0.0');
    t.teardown(() => made.close());
    const { store, sender, end } = await box(t, made.port, { wanted });
    await written(store, 1);
    sender.start();
    await until(() => sender.health.message !== '');
    t.match(sender.health, { state: 'waiting', sent: 0, message }, what);
    t.same(made.received, []);
    await end();
  }
});

t.test('AUDIT: a receiver that wants to know the box gets its certificate; ports without TLS, and without anybody, are told', async (t) => {
  const strict = await receiver(t, pair, plant.pem);
  const own = plant.sign('box', 'urn:box').files;
  const anonymous = await box(t, strict.port);
  await written(anonymous.store, 1);
  anonymous.sender.start();
  await until(() => /wants .*\(audit\.syslog\.certFile/.test(anonymous.sender.health.message));
  await anonymous.end();
  const known = await box(t, strict.port, { wanted: { auditSyslogCertFile: own.certificateFile, auditSyslogKeyFile: own.privateKeyFile } });
  await written(known.store, 1);
  known.sender.start();
  await until(() => known.sender.health.confirmed === 1);
  const plain = net.createServer((socket) =>
    socket
      .on('error', () => undefined)
      .resume()
      .end('220 plain\r\n'),
  );
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
  const { port } = plain.address() as net.AddressInfo;
  const lost = await box(t, port);
  lost.sender.start();
  await until(() => /does not speak TLS on this port/.test(lost.sender.health.message));
  await new Promise((resolve) => plain.close(resolve));
  await until(() => /refuses the connection/.test(lost.sender.health.message));
  t.pass('all of them in words');
});

t.test('AUDIT: a position that nobody can read, or that is of another trail, sends all again, and the receiver is told of a box that was set back', async (t) => {
  const heard = await receiver(t);
  const before = await box(t, heard.port);
  await written(before.store, 5);
  before.sender.start();
  await until(() => before.sender.health.confirmed === 5);
  await before.end();
  const file = path.join(before.dataDir, 'audit-syslog.json');
  const kept = JSON.parse(readFileSync(file, 'utf8')) as object;
  writeFileSync(file, '{"receiver":');
  const torn = await box(t, heard.port, { dataDir: before.dataDir });
  mkdirSync(`${file}.new`);
  torn.sender.start();
  await until(() => torn.sender.health.message !== '');
  t.match(torn.sender.trouble(), {
    severity: 'Medium',
    message: /^up to where the audit trail was sent cannot be put down: EISDIR.*; after a restart it is sent again from before$/,
  });
  rmdirSync(`${file}.new`);
  await written(torn.store, 1);
  await until(() => torn.sender.health.message === '');
  t.equal(torn.sender.trouble(), undefined, 'it is over when one was put down');
  await torn.end();
  t.same(heard.sequences, [...upTo(5), ...upTo(5), 6]);
  for (const wrong of [{ hash: 'f'.repeat(64) }, { sequence: 90 }]) {
    writeFileSync(file, JSON.stringify({ ...kept, ...wrong }));
    const setBack = await box(t, heard.port, { dataDir: before.dataDir });
    const count = heard.of('SETBACK').length;
    setBack.sender.start();
    await until(() => setBack.sender.health.confirmed > 6);
    t.equal(heard.of('SETBACK').length, count + 1);
    await setBack.end();
  }
  t.match(heard.of('SETBACK')[1], { data: { sequence: '90' }, text: /was set back to an earlier time/ });
});

t.test('what the kernel has not had acknowledged is read of its own table', async (t) => {
  const row = (local: string, remote: string, queue: string): string =>
    `   1: 0100007F:${local} 0100007F:${remote} 01 ${queue}:00000000 00:00000000 00000000     0        0 1 1 0 20 4 30 10 -1`;
  const table = `  sl  local_address rem_address   st tx_queue rx_queue\n${row('1F90', '1A0A', '00000010')}\n${row('1F91', '1A0A', '00000000')}`;
  t.equal(unacknowledgedIn(table, { localPort: 0x1f90, remotePort: 0x1a0a }), 16);
  t.equal(unacknowledgedIn(table, { localPort: 0x1f91, remotePort: 0x1a0a }), 0);
  t.equal(unacknowledgedIn(table, { localPort: 0x1f92, remotePort: 0x1a0a }), undefined);
});

function expired(): typeof pair {
  const at = (name: string): string => path.join(folder, name);
  writeFileSync(at('old.ext'), 'subjectAltName=IP:127.0.0.1\n');
  openssl(['req', '-new', '-newkey', 'rsa:2048', '-nodes', '-keyout', at('old.key'), '-out', at('old.csr'), '-subj', '/CN=old']);
  openssl([
    'x509',
    '-req',
    '-in',
    at('old.csr'),
    '-CA',
    plant.file(),
    '-CAkey',
    plant.file(undefined, 'key'),
    '-CAcreateserial',
    '-days',
    '-1',
    '-extfile',
    at('old.ext'),
    '-out',
    at('old.pem'),
  ]);
  return { certificatePem: readFileSync(at('old.pem'), 'utf8'), keyPem: readFileSync(at('old.key'), 'utf8'), files: pair.files };
}
