/** The demonstration plant at a start after the first: once per version, never over somebody's work, never the end of a start. */
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { applianceProcess } from '../support/appliance-process.js';
import { SITE } from '../support/plant.js';
import { at } from '../support/at.js';

const SHIPPED = fileURLToPath(new URL('../../demo/', import.meta.url));

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: Record<string, unknown>;
}

/** The manifests of another version: the descriptions of some of them differ. */
function nextVersion(folder: string, changed: (manifest: Manifest) => boolean, change: (spec: Record<string, unknown>) => void): void {
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
    const manifests = JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as Manifest[];
    for (const manifest of manifests) if (changed(manifest)) change(manifest.spec);
    writeFileSync(path.join(folder, file), JSON.stringify(manifests));
  }
}

t.test('a start with demonstration manifests of another version', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'lineside-demo-'));
  cpSync(SHIPPED, folder, { recursive: true });
  const environment = {
    LINESIDE_AUTH__MODE: 'none',
    LINESIDE_DEMO__ENABLED: 'true',
    LINESIDE_DEMO__DIR: folder,
    LINESIDE_GATEWAY__OPERATINGMODE: 'development',
    LINESIDE_LOG_LEVEL: 'warn',
  };
  const box = await applianceProcess({ environment });
  t.teardown(async () => {
    await box.end('SIGKILL');
    box.remove();
    rmSync(folder, { recursive: true, force: true });
  });
  await box.start();
  const description = async (area: string): Promise<string> => (await box.api.get(`${SITE}/areas/${area}`)).body.description;
  const areas = (await box.api.get(`${SITE}/areas`)).body as { name: string; labels: Record<string, string> }[];
  const first = at(
    areas.map(({ name }) => name),
    0,
  );
  t.equal((await box.api.put(`${SITE}/areas/${first}`, { description: 'where we really work' })).status, 200);
  const audits = async (): Promise<number> => (await box.api.get('/api/v1/audit?category=apply&limit=1000')).body.items.length;
  const before = await audits();
  await box.end();

  await t.test('the same version: nothing is written, the edit stays', async (t) => {
    await box.start();
    t.equal(await description(first), 'where we really work');
    t.equal(await audits(), before);
    await box.end();
  });

  await t.test('another version with another recipe and other texts: the start goes on, the edit and the signed recipe stay', async (t) => {
    nextVersion(
      folder,
      ({ kind }) => kind === 'MasterRecipe' || kind === 'Area' || kind === 'ControlModule',
      (spec) => (spec.description = 'of the next version'),
    );
    await box.start();
    t.equal(await description(first), 'where we really work');
    const { spec } = (await box.api.get(`${SITE}/recipes/master/resin-a`)).body as { spec: { description: string } };
    t.not(spec.description, 'of the next version');
    const modules = (await box.api.get(`${SITE}/controlmodules`)).body as { description: string }[];
    t.ok(
      modules.every((module) => module.description === 'of the next version'),
      'what nobody has touched follows the version',
    );
    await box.end();
  });

  await t.test('a manifest that is refused: the start goes on and says so', async (t) => {
    nextVersion(
      folder,
      ({ kind }) => kind === 'Unit',
      (spec) => (spec.scanIntervalMs = 'often'),
    );
    await box.start();
    await box.says(/the demonstration plant could not be brought up to date/);
    t.equal((await box.api.get(`${SITE}/units`)).status, 200);
  });
});
