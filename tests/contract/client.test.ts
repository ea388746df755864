/** Q-VER-01: a client that is made of openapi.json compiles, strictly, and drives the plant from its making to the record of a batch. */
import { spawnSync } from 'node:child_process';
import t from 'tap';
import { PASSWORD } from '../support/gateway.js';
import { clientStory } from '../smoke/client-story.js';
import { ApplianceTest } from './appliance.js';

t.test('Q-VER-01 F9: the types of openapi.json compile, and so does a program against them', async (t) => {
  const made = spawnSync(process.execPath, ['scripts/client.mjs'], { encoding: 'utf8' });
  t.equal(made.status, 0, `${made.stdout}${made.stderr}`);
});

t.test('Q-VER-01: the program makes a plant, a recipe and a batch, and reads its record', async (t) => {
  const test = await ApplianceTest.start();
  t.teardown(() => test.stop());
  const { code, output } = await clientStory(`http://127.0.0.1:${test.port}`, 'first', PASSWORD);
  t.equal(code, 0, output);
});
