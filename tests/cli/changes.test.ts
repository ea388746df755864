/** Change requests from the command line: asked for, looked at, decided by another, over the real pipeline. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { KnownBoxes } from '../../src/cli/remote/boxes.js';
import type { Given } from '../../src/cli/remote/command.js';
import { yamlText } from '../../src/platform/base/yaml.js';
import type { Client } from '../support/gateway.js';
import { ownFolder } from '../support/own-folder.js';
import { startPlantGateway } from '../support/plant-gateway.js';
import { boxContext, rowOf } from './support.js';

const plant = await startPlantGateway({ changeControl: { enforce: true } });
t.teardown(() => plant.stop());
const folder = ownFolder(t);
const boxes = new KnownBoxes(path.join(folder, 'config'));
const people = { author: await plant.as('engineer', 'supervisor'), approver: await plant.as('supervisor', 'engineer') };
const keep = (box: string, { username, token }: Client): void =>
  boxes.keep(box, { url: `http://127.0.0.1:${plant.port}`, username, accessToken: token, refreshToken: '', site: 'brew' });
for (const [box, who] of Object.entries(people)) keep(box, who);

const run = (words: string, box: keyof typeof people, args: readonly string[] = [], options: Given = {}) => rowOf(words).run(boxContext(boxes, args, { box, ...options }));
const file = (...manifests: readonly object[]): string => {
  const name = path.join(folder, 'change.yaml');
  writeFileSync(name, manifests.map(yamlText).join('---\n'));
  return name;
};
const template = (description: string) => ({
  apiVersion: 'recipe.lineside.io/v1alpha1',
  kind: 'PhaseTemplate',
  metadata: { name: 'heat', namespace: 'site-brew' },
  spec: { description },
});
const nameIn = (text: string): string => /is change request (\S+);/.exec(text)?.[1] ?? '';

t.test('CHANGE-01: what a file says is asked for, shown in words, and applied when another approves it', async (t) => {
  t.match(await people.author.post('/api/v1/apply', { apiVersion: 'physical.lineside.io/v1alpha1', kind: 'Site', metadata: { name: 'brew' }, spec: {} }), { status: 200 });
  t.match(await run('change list', 'author'), { text: 'there is no change request in brew' });
  const asked = await run('change request', 'author', [], { filename: [file(template('heats to 60 degrees'))], reason: 'a new product', risk: 'medium' });
  const name = nameIn(asked.text);
  t.match(await run('change show', 'approver', [name]), {
    text: new RegExp(
      `^change request ${name} is Pending: Create PhaseTemplate heat, risk Medium\n  asked for by ${people.author.username} at .*: a new product\n  can be approved until [^]*would change:\n[^]*spec\\.description: heats to 60 degrees`,
    ),
  });
  await t.rejects(run('change approve', 'author', [name], { reason: 'mine' }), /is your own: somebody else decides it/);
  t.match(await run('change approve', 'approver', [name], { reason: 'agrees with the data sheet' }), { text: `${name} is Applied, by ${people.approver.username}` });
  t.match(await run('change list', 'author', [], { phase: 'Applied' }), { text: new RegExp(`\n${name} +Applied +Create PhaseTemplate heat`) });
  t.match((await people.author.get('/api/v1/sites/brew/phasetemplates/heat')).body, { spec: { description: 'heats to 60 degrees' } });
  t.match(await run('snapshot list', 'author'), { text: new RegExp(`${people.approver.username} \\(change request ${name}\\)`) }, 'what was before it names it');
  const same = nameIn((await run('change request', 'author', [], { filename: [file(template('heats to 60 degrees'))], reason: 'once more' })).text);
  t.match(await run('change show', 'approver', [same]), { text: /\n {2}would change nothing: it is so already/ });
});

t.test('CHANGE-02: a removal is asked for, rejected, asked for again and withdrawn', async (t) => {
  const remove = () => run('change request-delete', 'author', ['phasetemplate', 'heat'], { reason: 'nobody uses it' });
  const rejected = nameIn((await remove()).text);
  t.match(await run('change reject', 'approver', [rejected], { reason: 'it is used next week' }), { text: `${rejected} is Rejected, by ${people.approver.username}` });
  const withdrawn = nameIn((await remove()).text);
  t.match(await run('change withdraw', 'author', [withdrawn], { reason: 'asked for the wrong one' }), { text: `${withdrawn} is Withdrawn, by ${people.author.username}` });
  await t.rejects(run('change approve', 'approver', [withdrawn], { reason: 'too late' }), /Withdrawn/);
  t.match((await people.author.get('/api/v1/sites/brew/phasetemplates/heat')).status, 200);
  t.match(await run('change verify', 'approver'), { text: '4 change requests are what was signed, recorded and applied', exitCode: 0 });
});

t.test('what is mistyped is told before the box is asked', async (t) => {
  await t.rejects(run('change list', 'author', [], { phase: 'open' }), /--phase open: give Pending, Approved/);
  await t.rejects(run('change request', 'author', [], { filename: [file(template('x'))], reason: 'x', risk: 'huge' }), /--risk huge: give Low, Medium, High/);
  await t.rejects(run('change request', 'author', [], { reason: 'x' }), /name files or folders with -f/);
});
