/** Whoever conducts a loop check is its conductor for as long as he may: his account, his permission and his sites are judged while it lasts (ADR 0086). */
import t from 'tap';
import type { ApiClient } from '../../support/api-client.js';
import { CHEAP_PASSWORDS } from '../../support/cheap-passwords.js';
import { FieldDevice, FULL } from '../../support/field-device.js';
import { begun, type Body, type Box, connected, LIST, LIVE, module, PATIENT, QUICK, stepped, untilSealed, untilWaiting, V1 } from '../../support/loop-checked.js';
import { manifest } from '../../support/manifest.js';
import { startPlant } from '../../support/plant.js';

const PASSWORD = 'correct horse battery';
const BEFORE = 120;
const USERS = '/api/v1/auth/users';

const device = await FieldDevice.start();
device.holding[0] = BEFORE;
const plant = await startPlant({ production: true, authMode: 'local', environment: { ...LIVE, ...CHEAP_PASSWORDS } });
t.teardown(async () => {
  await plant.end();
  await device.kill();
});
await plant.api.post('/api/v1/auth/first-admin', { code: plant.appliance.commissioningCode, username: 'anna', password: PASSWORD });
const admin = await signedIn('anna');
const applied = await admin.post('/api/v1/apply', [
  manifest('Site', 'north', {}, {}),
  manifest('Site', 'south', {}, {}),
  manifest('IOModule', 'plc', module(device.address, PATIENT)),
]);
if (applied.status !== 200) throw new Error(applied.text);

async function signedIn(username: string): Promise<ApiClient> {
  const { status, text, body } = await plant.api.post('/api/v1/auth/login', { username, password: PASSWORD });
  if (status !== 200) throw new Error(text);
  return plant.api.with(`Bearer ${body.accessToken}`);
}

interface Conducted {
  readonly engineer: Box;
  readonly id: string;
}

/** An engineer of this name has begun a check, and the output stands at half of its range. */
async function halfWay(username: string): Promise<Conducted> {
  const made = await admin.post(USERS, { username, displayName: username, password: PASSWORD, groups: ['lineside-engineer'], mustChangePassword: false });
  if (made.status !== 201) throw new Error(made.text);
  const engineer = { api: await signedIn(username) };
  await connected(engineer);
  const { id } = await begun(engineer, { ...QUICK, channels: [V1] });
  await stepped(engineer, id, 3);
  if (device.holding[0] !== FULL / 2) throw new Error(`the output stands at ${device.holding[0]}`);
  return { engineer, id };
}

const signs = async (id: string): Promise<Body[]> =>
  (await admin.get(`/api/v1/audit?category=loop-check&action=Sign&limit=50`)).body.items.filter(({ target }: Body) => target.name === id);

const GONE: readonly { readonly what: string; readonly username: string; readonly goes: (path: string) => Promise<{ readonly status: number }>; readonly says: RegExp }[] = [
  { what: 'deleted', username: 'bert', goes: (path) => admin.delete(path), says: /^the account of bert is closed or disabled$/ },
  { what: 'disabled', username: 'carl', goes: (path) => admin.put(path, { enabled: false }), says: /^the account of carl is closed or disabled$/ },
  {
    what: 'an engineer no more',
    username: 'dora',
    goes: (path) => admin.put(path, { groups: ['lineside-operator'] }),
    says: /^dora may not do this any more \(iomodule:loop-check\)$/,
  },
  {
    what: 'confined to another site',
    username: 'emil',
    goes: (path) => admin.put(path, { groups: ['lineside-engineer', 'lineside-site-south'] }),
    says: /^site north is outside the scope of emil now$/,
  },
];

for (const { what, username, goes, says } of GONE) {
  t.test(`ADR 0086: a conductor who is ${what} in the middle ends the check; its outputs go back, and the product signs and says why`, async (t) => {
    const { engineer, id } = await halfWay(username);
    t.ok((await goes(`${USERS}/${username}`)).status < 300);
    const late = await engineer.api.post(`${LIST}/${id}/confirm`, { step: 4 });
    t.ok([401, 403, 409].includes(late.status), `a confirmation is refused: ${late.status}`);
    const sheet = await untilSealed({ api: admin }, id);
    t.match(sheet, {
      outcome: 'incomplete',
      end: { reason: 'unattended', by: 'loop-check', message: says },
      operator: { displayName: username },
      signedBy: 'loop-check',
      valid: true,
      stepsDone: 3,
      returned: [{ channel: 'v1', value: BEFORE, isReturned: true }],
    });
    t.equal(device.holding[0], BEFORE);
    t.match(await signs(id), [{ actorType: 'component', component: 'loop-check', result: 'Success' }], 'one signature');
  });
}

t.test('ADR 0086: who signs out and in again goes on with his check, and signs it', async (t) => {
  const { engineer, id } = await halfWay('fred');
  t.ok((await engineer.api.post('/api/v1/auth/logout', {})).status < 300);
  const again = { api: await signedIn('fred') };
  for (const step of [4, 5]) {
    await untilWaiting(again, id, step);
    t.equal((await again.api.post(`${LIST}/${id}/confirm`, { step })).status, 200);
  }
  t.match(await untilSealed({ api: admin }, id), { outcome: 'pass', signedBy: 'fred', valid: true });
  t.equal(device.holding[0], BEFORE);
});
