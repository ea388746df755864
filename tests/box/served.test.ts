/** The hardware profile as a whole appliance chooses, serves and holds it. */
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { chooseBox, historianBytes } from '../../src/appliance/box.js';
import { Plant } from '../support/plant.js';

const dataDir = mkdtempSync(path.join(tmpdir(), 'lineside-box-'));
const plant = new Plant(dataDir, { production: true });
t.teardown(async () => {
  await plant.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

interface Health {
  readonly status: string;
  readonly box: {
    readonly profile: string;
    readonly verified: boolean;
    readonly by: string;
    readonly limits: object;
    readonly used: { units: number; tags: number; streams: number };
  };
  readonly warnings: readonly string[];
}
const health = async (): Promise<Health> => (await plant.api.get('/api/v1/system/health')).body;

t.test('a draft that the setting names is served as one, warned of, and holds', async (t) => {
  await plant.start({ LINESIDE_BOX__PROFILE: 'raspberry-pi-4' });
  const { box, warnings } = await health();
  t.match(box, { profile: 'raspberry-pi-4', verified: false, by: 'setting', limits: { units: 12, streams: 30, scanIntervalMinMs: 50 }, used: { units: 0, tags: 0, streams: 0 } });
  t.ok(warnings.some((warning) => /the hardware profile raspberry-pi-4 is a draft that nobody has tried/.test(warning)));
  t.equal((await plant.api.post('/api/v1/sites', { name: 'north' })).status, 201);
  for (let number = 1; number <= 12; number += 1) t.equal((await plant.api.post('/api/v1/sites/north/units', { name: `u${number}` })).status, 201);
  t.match(await plant.api.post('/api/v1/sites/north/units', { name: 'u13' }), { status: 409, body: { code: 'profile_limit', limit: 12, wanted: 13 } });
});

t.test('without the setting this machine has a profile of its own', async (t) => {
  await plant.restart({ LINESIDE_BOX__PROFILE: 'auto' });
  const { box } = await health();
  t.equal(box.profile, chooseBox(path.join(process.cwd(), 'firmware-profiles'), 'auto').profile.name);
  t.equal(box.by, 'machine');
  t.equal(box.used.units, 12);
});

t.test('a plant that is beyond the profile at the start is there all the same, and is warned of', async (t) => {
  const UNITS = '/api/v1/sites/north/units';
  t.equal((await plant.api.post(UNITS, { name: 'u13' })).status, 201);
  await plant.restart({ LINESIDE_BOX__PROFILE: 'raspberry-pi-4' });
  const { box, warnings, status } = await health();
  t.match(box, { profile: 'raspberry-pi-4', used: { units: 13 } });
  t.ok(warnings.some((warning) => /the plant has 13 units, and the hardware profile raspberry-pi-4 promises 12: it goes on/.test(warning)));
  t.equal(status, 'ok', 'nothing of it is down');
  t.equal((await plant.api.put(`${UNITS}/u13`, { description: 'worked with' })).status, 200);
  t.match(await plant.api.post(UNITS, { name: 'u14' }), { status: 409, body: { code: 'profile_limit', wanted: 14 } });
});

t.test('a box.profile that is not there ends the start with the names there are', async (t) => {
  await t.rejects(plant.restart({ LINESIDE_BOX__PROFILE: 'abacus' }), /box\.profile abacus names no hardware profile: use auto or one of /);
});

t.test('the historian takes its share of the disk, or what its setting says where that is less', async (t) => {
  const box = chooseBox(path.join(process.cwd(), 'firmware-profiles'), 'unknown-box');
  const { blocks, bsize } = statfsSync(dataDir);
  const share = Math.floor(blocks * bsize * 0.25);
  t.equal(historianBytes(box, { historianBytesMax: 1000, dataDir }), 1000);
  t.equal(historianBytes(box, { historianBytesMax: Number.MAX_SAFE_INTEGER, dataDir }), share);
  t.equal(historianBytes(box, { historianBytesMax: 2000, dataDir: path.join(dataDir, 'gone') }), 2000, 'of a disk that cannot be asked the setting holds');
});
