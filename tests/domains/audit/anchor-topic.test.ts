/** Anchors at a broker, a real one: whatever becomes of the line, the newest end is retained, and what somebody has kept of them is what verify wants. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { verify } from '../../../src/cli/verify.js';
import { AnchorTopic } from '../../../src/domains/audit/anchor-topic.js';
import { AuditAnchors } from '../../../src/domains/audit/anchors.js';
import { auditBackup } from '../../../src/domains/audit/backup.js';
import { type Clock, systemClock } from '../../../src/platform/base/clock.js';
import { anchorLine } from '../../../src/platform/ledger/anchors.js';
import { openDeviceKeys } from '../../../src/platform/ledger/keys.js';
import { openLedger } from '../../../src/platform/ledger/ledger.js';
import { openQueries } from '../../../src/platform/ledger/queries.js';
import { eventually } from '../../support/api-client.js';
import { auditDraft, transaction } from '../../support/ledger-data.js';
import { ownFolder } from '../../support/own-folder.js';
import { testLog } from '../../support/test-log.js';
import { ACCOUNT, Line, Mosquitto, Subscriber } from '../telemetry/mosquitto.js';

t.test('AUDIT: the newest anchor is retained at the broker over outages, and a file of those that came finds a box that was set back', async (t) => {
  const dataDir = ownFolder(t);
  const mosquitto = new Mosquitto();
  await mosquitto.start();
  t.teardown(() => mosquitto.stop());
  const broker = await Subscriber.open(mosquitto);
  t.teardown(() => broker.close());
  const line = new Line(mosquitto);
  const passwordFile = path.join(mosquitto.folder, 'of-the-box');
  writeFileSync(passwordFile, ACCOUNT.password);
  const keys = openDeviceKeys(dataDir);
  const ledger = await openLedger(dataDir);
  await ledger.load(0);
  const queries = openQueries(dataDir);
  let aheadMs = 0;
  const clock: Clock = { wallMs: () => systemClock.wallMs(), monoMs: () => systemClock.monoMs() + aheadMs, after: (ms, call) => systemClock.after(ms, call) };
  const { deviceId } = keys;
  const access = { url: `mqtt://127.0.0.1:${await line.open()}`, username: ACCOUNT.username, passwordFile, caFile: null };
  const topic = new AnchorTopic({ ...access, topic: 'plant/anchors', clientId: null, deviceId, clock, log: testLog(), retryMs: 20 });
  const anchors = new AuditAnchors({ folder: null, intervalMs: 60_000, queries, keys, clock, sends: (line) => topic.publish(line) });
  t.teardown(async () => {
    line.cut();
    await topic.stop();
    await line.close();
    await queries.close();
    await ledger.close();
  });
  let last = 0;
  const lived = async (records: number): Promise<void> => {
    await ledger.commit(transaction({ audits: Array.from({ length: records }, () => auditDraft((last += 1))) }));
    await anchors.keep();
  };
  const place = `plant/anchors/${deviceId}`;
  const sequence = (): number | undefined => (broker.json(place) as { readonly sequence: number } | null)?.sequence;
  await topic.start();
  await lived(5);
  await broker.until('the first anchor is there', () => sequence() === 5);
  t.match(
    broker.arrived.find((each) => each.topic === place),
    { qos: 1, retain: true },
  );
  t.match(await anchors.check(), { configured: false, note: /broker of audit\.anchors\.mqttTopic, and this box cannot read them there/ });
  line.mute();
  await lived(5);
  t.equal(topic.fault, undefined, 'an outage that is short calls nobody');
  aheadMs = 121_000;
  t.match(topic.fault, /^the end of the audit trail cannot be published outside \(audit\.anchors\.mqttTopic\): the broker does not acknowledge what it is sent$/);
  line.cut();
  await eventually('the line is down', async () => !/acknowledge/.test(topic.fault ?? ''));
  await lived(5);
  line.mend();
  await broker.until('the newest is there', () => sequence() === 15);
  await eventually('it is acknowledged', async () => topic.fault === undefined);

  const file = (name: string): string => path.join(dataDir, name);
  const text: Uint8Array[] = [];
  for await (const chunk of auditBackup(queries, {}, { ...keys, exportedAt: '2026-11-29T00:00:00.000Z' })) text.push(chunk);
  writeFileSync(file('export'), Buffer.concat(text));
  writeFileSync(file('box.pub'), keys.publicKey.export({ type: 'spki', format: 'pem' }));
  await lived(2);
  await broker.until('one after the export', () => sequence() === 17);
  const came = broker.arrived.filter((each) => each.topic === place);
  const judged = async (lines: readonly string[]): Promise<{ readonly code: number; readonly said: string }> => {
    writeFileSync(file('kept'), lines.map((each) => `${each}\n`).join(''));
    let said = '';
    const take = (more: string): void => void (said += more);
    return { code: await verify(file('export'), { key: file('box.pub'), anchors: file('kept') }, { out: take, say: take }), said };
  };
  const printed = came.map(({ payload }) => payload);
  t.match(await judged(printed.filter((each) => !each.includes('"sequence":17'))), { code: 0, said: /genuine/ }, 'as mosquitto_sub prints them');
  for (const lines of [printed, came.map((each) => `${each.topic} ${each.payload}`)])
    t.match(await judged(lines), { code: 1, said: /record 17 was anchored outside, and the trail ends with record 15/ }, 'and with -v, which prints the topic too');
  const other = openDeviceKeys(file('other'));
  const theirs = anchorLine({ sequence: 40, hash: 'a'.repeat(64), at: '2026-11-29T00:00:00.000Z', kid: other.kid }, other.privateKey).trimEnd();
  t.match(await judged([theirs, ...printed]), { code: 1, said: /record 17 was anchored outside/ }, 'of two boxes below one topic those of this one count');
  t.match(await judged([theirs]), { code: 2, said: /holds no anchor of the box with this key: nothing can be held against it/ }, 'none is not taken for a look at them');
  t.match(
    await judged([`x${' {"sequence":1'.repeat(300_000)}`, 'garbage', '', ...printed]),
    { code: 1, said: /record 17 was anchored outside/ },
    'whatever else somebody publishes there',
  );
});
