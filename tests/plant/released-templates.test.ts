/** What is released is what runs (D-C-11): an edit of a template reaches no batch of a released recipe until it is confirmed. */
import t from 'tap';
import { canonicalDigest } from '../../src/platform/ledger/canonical-json.js';
import { SITE, SMALL, startPlant } from '../support/plant.js';

const plant = await startPlant();
t.teardown(() => plant.end());
const { api } = plant;
const RECIPE = `${SITE}/recipes/master/resin-a`;

const released = (await api.get(`${RECIPE}/revisions/1`)).body.released as { kind: string; name: string; digest: string; spec: Record<string, unknown> }[];

/** Digest of the phase template that a batch has frozen. */
async function ran(batch: string, name: string): Promise<string> {
  const { body } = await api.get(`${SITE}/recipes/control/${batch}`);
  return body.spec.templates.find((template: { kind: string; name: string }) => template.kind === 'PhaseTemplate' && template.name === name).digest;
}

async function ended(): Promise<string> {
  const batch = await plant.runBatch(SMALL);
  await plant.command(batch, 'Abort');
  await plant.until(batch, 'Aborted');
  await plant.look('the units are free', async () => {
    const units = await Promise.all(['mx101', 'rx101', 'tk201'].map((unit) => plant.unit(unit)));
    return { done: units.every(({ allocatedTo }) => allocatedTo === '') || undefined, seen: JSON.stringify(units.map(({ allocatedTo }) => allocatedTo)) };
  });
  return batch;
}

t.test('D-C-11: release keeps the content of every template that the recipe reaches, with its digest', async (t) => {
  t.ok(released.length > 3);
  for (const { name, digest, spec } of released) t.equal(canonicalDigest(spec), digest, name);
  t.match((await api.get(RECIPE)).body, { conditions: [], templateChanges: [] });
});

t.test('D-C-11: the values of a new batch are judged by the templates that it will run', async (t) => {
  const target = `${SITE}/phasetemplates/charge`;
  const charge = released.find(({ name }) => name === 'charge') as (typeof released)[number];
  const parameters = (charge.spec.parameters as { readonly name: string }[]).map((parameter) => (parameter.name === 'amount' ? { ...parameter, max: '0.2' } : parameter));
  t.match(await api.put(target, { ...charge.spec, parameters }), { status: 200 });
  const made = await api.post(`${SITE}/batches`, { batchID: 'B-judged', masterRecipeRef: 'resin-a', ...SMALL });
  t.equal(made.status, 201, made.text);
  t.match(await api.delete(`${SITE}/batches/${made.body.name}`), { status: 204 });
  t.match(await api.put(target, charge.spec), { status: 200 });
  t.match((await api.get(RECIPE)).body, { conditions: [] });
});

t.test('D-C-11: an edit after the release is a condition of the recipe and a warning, and does not run; a confirmed one does', async (t) => {
  const template = released.find(({ kind }) => kind === 'PhaseTemplate') as (typeof released)[number];
  const manifest = (await api.get(`${SITE}/phasetemplates/${template.name}`)).body;
  const edited = await api.put(`${SITE}/phasetemplates/${template.name}`, { ...(manifest.spec ?? template.spec), description: 'changed after the release' });
  t.equal(edited.status, 200, edited.text);
  const { body } = await api.get(RECIPE);
  t.match(body, {
    phase: 'Effective',
    conditions: [
      { type: 'TemplateChanged', status: 'True', message: new RegExp(`^PhaseTemplate ${template.name} was changed by .+ at .+Z after the recipe was released: description`) },
    ],
    templateChanges: [{ kind: 'PhaseTemplate', name: template.name, by: /./, at: /Z$/, released: template.digest, present: /^[0-9a-f]{64}$/ }],
  });
  const { checks } = (await api.post(`${SITE}/batches/preflight`, { batchID: 'B-look', masterRecipeRef: 'resin-a', ...SMALL })).body;
  t.match(
    checks.filter(({ check }: { check: string }) => check === 'charts'),
    [{ ok: false, severity: 'warning', element: template.name, liftedBy: { tier: 'supervise', action: /confirm-templates/ } }],
  );
  t.equal(await ran(await ended(), template.name), template.digest, 'what was released');

  const [{ present }] = body.templateChanges;
  t.match(await api.post(`${RECIPE}/confirm-templates`, { reason: 'tested', confirm: ['0'.repeat(64)] }), { status: 400, body: { field: 'confirm' } });
  t.match(await api.post(`${RECIPE}/confirm-templates`, { reason: ' ', confirm: [present] }), { status: 400, body: { code: 'reason_too_short' } });
  const confirmed = await api.post(`${RECIPE}/confirm-templates`, { reason: 'tested', confirm: [present] });
  t.match(confirmed, { status: 200, body: { name: 'resin-a', phase: 'Effective', actionBy: /./, reason: 'tested', signature: /^[0-9a-f]{64}$/ } });
  t.strictSame(confirmed.body.warnings, undefined, 'nothing of the template that is confirmed hurts');
  t.ok(confirmed.body.templates.some(({ digest }: { digest: string }) => digest === present));
  const after = (await api.get(RECIPE)).body;
  t.match(after, { conditions: [], templateChanges: [] });
  t.match(after.lifecycle.at(-1), { action: 'confirm-templates', from: 'Effective', to: 'Effective', signature: confirmed.body.signature });
  t.match(
    await api.get(`/api/v1/signatures/${confirmed.body.signature}`),
    { status: 200, body: { meaning: 'recipe-confirm-templates', valid: true, problems: [] } },
    'it can be followed',
  );
  t.match(await api.post(`${RECIPE}/confirm-templates`, { reason: 'tested', confirm: [present] }), { status: 409, body: { code: 'templates_unchanged' } });
  t.equal(await ran(await ended(), template.name), present, 'what was confirmed');
  t.match((await plant.verified()).body, { ok: true, problems: [] });
});
