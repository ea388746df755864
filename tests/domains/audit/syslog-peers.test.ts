/** What Debian's rsyslog makes of the audit trail, its anchors among it, and what `lineside verify` makes of its file. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { pino } from 'pino';
import t from 'tap';
import { eventually } from '../../support/api-client.js';
import { verify } from '../../../src/cli/verify.js';
import { AuditAnchors } from '../../../src/domains/audit/anchors.js';
import { auditBackup } from '../../../src/domains/audit/backup.js';
import { Backoff } from '../../../src/domains/audit/syslog/backoff.js';
import { SyslogSender } from '../../../src/domains/audit/syslog/sender.js';
import { systemClock } from '../../../src/platform/base/clock.js';
import { openDeviceKeys } from '../../../src/platform/ledger/keys.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import { openQueries } from '../../../src/platform/ledger/queries.js';
import { Store } from '../../../src/platform/store/store.js';
import { readSettings } from '../../../src/settings.js';
import { Authority } from '../../support/authority.js';
import { auditDraft } from '../../support/ledger-data.js';
import { ownFolder } from '../../support/own-folder.js';
import { rsyslog } from '../../support/rsyslog.js';

const SD = /^<110>1 \S+ line3 lineside 7 AUDIT \[lineside@32473 sequence="(\d+)" hash="[0-9a-f]{64}" deviceId="[0-9a-f]{32}"\] \{/;

t.test('AUDIT: rsyslog takes every record over mutual TLS, also what it missed while it was killed, and its file holds the anchors that verify wants', async (t) => {
  const folder = ownFolder(t);
  const dataDir = path.join(folder, 'data');
  const plant = new Authority(folder, 'plant');
  const own = plant.sign('box', 'urn:box').files;
  const peer = await rsyslog(t, folder, plant.sign('receiver', 'urn:receiver'), plant.file(), true);
  const ledger = await openLedger(dataDir);
  const store = new Store(ledger, systemClock, undefined, []);
  await store.open(0);
  const queries = openQueries(dataDir, () => store.recorded);
  const keys = openDeviceKeys(dataDir);
  const settings = {
    ...readSettings([], {}, dataDir),
    auditSyslogAddress: '127.0.0.1',
    auditSyslogPort: peer.port,
    auditSyslogCaFile: plant.file(),
    auditSyslogCertFile: own.certificateFile,
    auditSyslogKeyFile: own.privateKeyFile,
    auditSyslogConfirmIntervalMs: 300,
  };
  const source = { facility: 'audit', hostname: 'line3', appName: 'lineside', procId: '7', deviceId: keys.deviceId } as const;
  const sender = new SyslogSender({ settings, store, queries, clock: systemClock, log: pino({ level: 'silent' }), dataDir, source, backoff: new Backoff(() => 0, 100) });
  t.teardown(async () => {
    await sender.stop();
    await queries.close();
    await ledger.close();
  });
  const anchors = new AuditAnchors({ folder: null, intervalMs: 60_000, queries, keys, clock: systemClock, sends: (line, end) => sender.anchor(line, end) });
  const write = async (count: number): Promise<void> => {
    const { name: _name, sequence: _sequence, timestamp: _timestamp, accountId, displayName, actorType, ...draft } = auditDraft(1);
    await store.write({ audits: Array.from({ length: count }, () => ({ ...draft, actor: { accountId, displayName, actorType } })) });
  };
  const until = (isSo: () => boolean) => eventually('what was sent has come', async () => isSo(), undefined, 10);
  const sequences = (): number[] =>
    peer
      .text()
      .split('\n')
      .flatMap((line) => Number(SD.exec(line)?.[1] ?? []) || []);
  await peer.start();
  await write(200);
  await anchors.keep();
  sender.start();
  await until(() => sender.health.confirmed === 200);
  await peer.kill();
  await write(200);
  await until(() => sender.health.message !== '');
  await peer.start();
  await anchors.keep();
  await until(() => sender.health.confirmed === 400);
  await until(() => new Set(sequences()).size === 400);
  t.equal(Math.max(...sequences()), 400);
  t.match((await anchors.check()).note, /anchors are sent to the receiver of audit\.syslog\.address/);

  const file = (name: string, text: string): string => {
    writeFileSync(path.join(folder, name), text);
    return path.join(folder, name);
  };
  const chunks: Buffer[] = [];
  for await (const chunk of auditBackup(queries, {}, { ...keys, exportedAt: '2026-11-29T00:00:00.000Z' })) chunks.push(Buffer.from(chunk));
  const whole = file('export', Buffer.concat(chunks).toString('utf8'));
  const key = file('box.pub', String(keys.publicKey.export({ type: 'spki', format: 'pem' })));
  const said = async (options: { anchors: string; key?: string }): Promise<{ code: number; text: string }> => {
    const lines: string[] = [];
    const take = (text: string): void => void lines.push(text);
    return { code: await verify(whole, options, { out: take, say: take }), text: lines.join('\n') };
  };
  const text = peer.text();
  const received = file('received', text);
  const held = await said({ anchors: received, key });
  t.match(held, { code: 0, text: /[2-9] anchors were looked at/ });
  const other = text.split('\n').find((line) => line.includes(' ANCHOR ')) ?? '';
  const ahead = file('ahead', text.replaceAll(/\{"sequence":\d+,"hash"/g, '{"sequence":900,"hash"'));
  t.match(await said({ anchors: ahead, key }), { code: 2, text: /is no anchor that was signed with this key/ }, 'one that was changed');
  const strangers = file('strangers', `${text}${other.replaceAll(keys.kid, 'ffffffffffffffff')}\n`);
  t.match(await said({ anchors: strangers, key }), { code: 0 }, 'those of other boxes are not of this export');
  t.match(await said({ anchors: strangers }), { code: 2, text: /holds anchors of several boxes; --key says which/ });
});
