/** Who keeps the certificate of this box in mind: what is done to it is logged and on record, and the doctor tells in time that it ends. */
import { X509Certificate } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import type { BoxNotice } from '../../../runtime/port.js';
import { onNotice } from '../../../runtime/io/notices.js';
import { ownIdentity } from '../../../runtime/io/opcua/identity.js';
import { noticeKeeper } from '../../../src/domains/io-modules/box-notices.js';
import type { Examined } from '../../../src/doctor/check.js';
import { opcuaIdentity } from '../../../src/doctor/checks/opcua-identity.js';
import { ownFolder } from '../../support/own-folder.js';
import { startPlantGateway } from '../../support/plant-gateway.js';
import { TestClock } from '../../support/test-clock.js';
import { type LogEntry, testLog } from '../../support/test-log.js';

const DAY_MS = 86_400_000;
const dataDir = ownFolder(t);
const folder = path.join(dataDir, 'opcua');
fs.mkdirSync(folder);

t.test('decisions 7.5, AUD-01: a certificate that is made, and made anew, is in the log and on record with its fingerprint', async (t) => {
  const plant = await startPlantGateway();
  t.teardown(() => plant.stop());
  const { store } = plant;
  const logged: LogEntry[] = [];
  const keep = noticeKeeper({ store, log: testLog((entry) => logged.push(entry)) });
  const told: BoxNotice[] = [];
  onNotice((notice) => {
    told.push(notice);
    keep(notice);
  });
  t.teardown(() => onNotice(() => undefined));
  const first = await ownIdentity(folder);
  fs.rmSync(path.join(folder, 'identity', 'certificate.pem'));
  const second = await ownIdentity(folder);
  await store.write({});
  const sha256 = [first, second].map(({ certificate }) => new X509Certificate(certificate).fingerprint256.replaceAll(':', '').toLowerCase());
  t.match(logged, [
    { level: 'warn', sha256: sha256[0], msg: /has made its OPC UA identity/ },
    { level: 'warn', sha256: sha256[1], msg: /made anew from the same key/ },
  ]);
  t.match(
    told.map(({ action }) => action),
    ['Create', 'Update'],
  );
  const records = plant.audits.filter(({ category }) => category === 'client-identity');
  t.match(records, [
    { action: 'Create', category: 'client-identity', target: { kind: 'Device', name: 'client-identity' }, result: 'Success', details: { sha256: sha256[0] } },
    { action: 'Update', details: { sha256: sha256[1], message: /was not there/ } },
  ]);
});

t.test('lineside doctor tells 90 days before the certificate of the box ends, and when nobody takes it', async (t) => {
  const { certificate } = await ownIdentity(folder);
  const endMs = Date.parse(new X509Certificate(certificate).validTo);
  const at = (wallMs: number) => opcuaIdentity.look({ settings: { dataDir }, clock: new TestClock(wallMs) } as unknown as Examined);
  t.match(await at(endMs - 91 * DAY_MS), { verdict: 'ok', whatToDo: '', figures: { days: 91 } });
  t.match(await at(endMs - 89 * DAY_MS), { verdict: 'warning', meaning: /will refuse it soon/, whatToDo: /remove certificate\.pem .* told to trust it/ });
  t.match(await at(endMs + DAY_MS), { verdict: 'fault', meaning: /servers refuse it/ });
  t.match(await at(Date.UTC(2019, 0, 1)), { verdict: 'fault', meaning: /or the clock of this box is wrong/ });
  fs.writeFileSync(path.join(folder, 'identity', 'certificate.pem'), 'garbage');
  t.match(await at(endMs - 91 * DAY_MS), { verdict: 'fault', measured: /certificate\.pem: /, whatToDo: /put it back from a backup, or remove it/ });
  fs.rmSync(path.join(folder, 'identity'), { recursive: true });
  t.match(await at(endMs), { verdict: 'ok', measured: 'none has been made' });
});
