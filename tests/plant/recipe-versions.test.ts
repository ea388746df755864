/** Versions of a recipe while batches run (D-C-14): what is at work keeps its version, and a version in use is not withdrawn. */
import t from 'tap';
import { cleaning, SITE, startPlant } from '../support/plant.js';

const plant = await startPlant();
t.teardown(() => plant.end());
const { api } = plant;
const MASTER = `${SITE}/recipes/master`;
const REASON = { reason: 'tested' };

/** The next version of clean-train, Released. */
async function nextVersion(): Promise<string> {
  const { body } = await api.post(`${MASTER}/clean-train/new-version`);
  for (const step of ['approve', 'release']) await api.post(`${MASTER}/${body.name}/${step}`, REASON);
  return body.name;
}

const inPlace = (name: string) => api.post(`${MASTER}/${name}/activate`, { ...REASON, previous: 'withdraw' });
const phaseOf = async (name: string): Promise<string> => (await api.get(`${MASTER}/${name}`)).body.phase;

const next = await nextVersion();

t.test('D-C-14: an activation at the moment of a Start leaves the batch its version, and names the batch', async (t) => {
  const batch = await plant.createBatch(cleaning(5));
  const [started, activated] = await Promise.all([plant.command(batch, 'Start'), inPlace(next)]);
  t.equal(started.status, 200, started.text);
  t.match(activated, { status: 409, body: { code: 'recipe_in_use', recipe: 'clean-train', batch } });
  t.match(await inPlace(next), { status: 409, body: { batch, inUse: [{ recipe: 'clean-train', heldBy: [batch] }] } });
  t.same(await Promise.all(['clean-train', next].map(phaseOf)), ['Effective', 'Released']);
  await plant.look(`batch ${batch} has begun`, async () => {
    const { phase, blockedBecause } = await plant.batch(batch);
    return { done: phase !== 'Pending' || undefined, seen: blockedBecause };
  });
  t.match((await api.get(`${SITE}/recipes/control/${batch}`)).body, { masterRecipe: 'clean-train', version: '1.0.0' });
  t.match(await api.post(`${MASTER}/${next}/activate`, REASON), { status: 200, body: { otherEffective: [{ name: 'clean-train', heldBy: [batch] }] } });
  t.match((await api.get(`${SITE}/recipes/control/${batch}`)).body, { masterRecipe: 'clean-train', version: '1.0.0' }, 'whatever is Effective beside it');
  await plant.command(batch, 'Abort');
  await plant.until(batch, 'Aborted');
});

t.test('D-C-14: a batch that waits for a version that was withdrawn by itself does not run the one that supersedes it', async (t) => {
  const third = await nextVersion();
  const waiting = await plant.createBatch(cleaning(1));
  t.match(await inPlace(third), { status: 409, body: { recipe: 'clean-train', batch: waiting } });
  t.equal((await api.post(`${MASTER}/clean-train/withdraw`, REASON)).status, 200, 'which a batch that waits does not hold up (D-RECIPE-03)');
  const answer = await inPlace(third);
  t.match(answer, { status: 200, body: { otherEffective: [], withdrawn: [{ name: next, version: '2.0.0' }] } });
  t.equal((await plant.command(waiting, 'Start')).status, 200, 'it is taken, and judged where it is carried out');
  const judged = await plant.look('the Start is judged', async () => {
    const batch = await plant.batch(waiting);
    return { done: batch.commandRejection ? batch : undefined, seen: batch.phase };
  });
  t.match(judged, { phase: 'Pending', spec: { masterRecipeRef: 'clean-train' }, commandRejection: { rule: 'recipe-withdrawn', message: 'recipe clean-train is Withdrawn' } });
  t.equal((await api.delete(`${SITE}/batches/${waiting}`)).status, 204);
});

t.test('D-C-14: what was signed in one request stands in the trail by itself, and the appliance verifies it', async (t) => {
  const fourth = await nextVersion();
  const answer = await inPlace(fourth);
  const records = await plant.audit(answer, 2);
  t.match(
    records.map(({ target, details, result }) => [target.name, details.action, result]),
    [
      [answer.body.withdrawn[0].name, 'withdraw', 'Success'],
      [fourth, 'activate', 'Success'],
    ],
  );
  for (const { signature } of [...answer.body.withdrawn, answer.body])
    t.match(await api.get(`/api/v1/signatures/${signature}`), { status: 200, body: { valid: true, problems: [] } });
  t.match(await plant.verified(), { status: 200, body: { ok: true } });
  t.match((await api.get('/api/v1/audit/verify')).body, { ok: true });
});

t.test('D-C-14: an export takes along what a version supersedes, and apply takes it also where that is not', async (t) => {
  const manifests = (await api.get('/api/v1/export?site=demo&kinds=MasterRecipe')).body as { metadata: { name: string }; spec: { supersedes?: object } }[];
  const exported = manifests.find(({ metadata }) => metadata.name === next);
  t.match(exported?.spec.supersedes, { name: 'clean-train', version: '1.0.0' });
  for (const name of [next, 'clean-train']) t.equal((await api.delete(`${MASTER}/${name}`)).status, 204);
  const applied = await api.post('/api/v1/apply', exported);
  t.equal(applied.status, 200, applied.text);
  t.match((await api.get(`${MASTER}/${next}`)).body, {
    phase: 'Draft',
    spec: { supersedes: { name: 'clean-train', version: '1.0.0' } },
    notes: ['it supersedes version 1.0.0, recipe clean-train, which does not exist here'],
  });
});
