/**
 * Data of every earlier release opens, verifies and says what it said then (tests/fixtures/releases/<version>, made by
 * make-release.ts from the build of that release). A format that changes is migrated: this is where it shows.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import t from 'tap';
import { eventually } from '../support/api-client.js';
import { applianceProcess } from '../support/appliance-process.js';
import { ENVIRONMENT, finished, nothingTold, startBatch, Story } from '../support/batch-story.js';
import { type Observed, observe, recorded, UNFIT } from './observed.js';

const RELEASES = path.join(process.cwd(), 'tests/fixtures/releases');

/** The fixture grows old: nothing of it is shed or archived for its age. */
const KEPT = { LINESIDE_AUDIT__MAXAGE: '36500d', LINESIDE_HISTORIAN__RETENTION: '36500d', LINESIDE_ALARMS__RESOLVEDRETENTION: '36500d' };
/** Its demonstration has the patience of a quiet machine: ten seconds of a step are over when a thread of a busy one has not had its turn for as many of the plant. */
const SLOWER = { LINESIDE_RUNTIME__TIMESCALE: '3' };

for (const version of readdirSync(RELEASES)) {
  t.test(`a data directory of ${version} opens: nothing is lost, nothing reads otherwise, nothing runs, and everything goes on`, async (t) => {
    const folder = path.join(RELEASES, version);
    const then = JSON.parse(gunzipSync(readFileSync(path.join(folder, 'observed.json.gz'))).toString()) as Observed;
    const dataDir = mkdtempSync(path.join(tmpdir(), 'lineside-release-'));
    execFileSync('tar', ['-C', dataDir, '-xzf', path.join(folder, 'data.tar.gz')]);
    const box = await applianceProcess({ dataDir, environment: { ...ENVIRONMENT, ...KEPT, ...SLOWER }, bare: true });
    t.teardown(async () => {
      await box.end('SIGKILL');
      box.remove();
    });
    await box.start();
    const story = new Story(box);
    await story.signIn();
    const running = named(then, 'running');
    await story.inState(running, 'Held');
    const now = await observe(story.admin, then);

    t.same({ ...now.batches, [running]: 'Held' }, { ...then.batches, [running]: 'Held' }, 'batches stand where they stood');
    t.equal(now.batches[running], 'Held', 'what was running when it was killed is held');
    for (const [name, record] of Object.entries(then.records)) {
      t.match(now.records[name]?.json, record.json as object, `record ${name} says what it said`);
      t.equal(recorded(now.records[name]?.xml ?? ''), recorded(record.xml), 'in BatchML as well');
    }
    for (const [name, events] of Object.entries(then.events)) t.same(now.events[name]?.slice(0, events.length), events, `events of ${name}`);
    t.match(now.seals, { ok: true, checked: (then.seals as { checked: number }).checked, problems: [] }, 'sealed records are what was sealed');
    const given = (await story.admin.get('/api/v1/signatures')).body.items as { id: string }[];
    t.ok(given.length > 0, 'people had signed');
    for (const { id } of given) {
      const { body } = await story.admin.get(`/api/v1/signatures/${id}/verify`);
      t.match(body, { valid: true, problems: [], state: 'Valid' }, `signature ${id} verifies, and stands: ${body.why}`);
    }
    t.equal(now.audit.ok, true, 'the audit chain verifies');
    t.ok(now.audit.count >= then.audit.count);
    t.match(now.archived, { ok: true, problems: [] }, 'so does its archive');
    t.same(now.users, then.users);
    t.same(now.keys, then.keys);
    t.match(now.recipes, then.recipes, 'recipes are as effective as they were, with the same digest');

    if (then.history) {
      t.same(now.alarms, then.alarms, 'alarms stand as they stood, and what is settled reads as it read');
      t.match(now.unfit, [{ kind: 'AlarmDefinition', name: UNFIT, kept: false }], 'the row that cannot be used is named');
      t.same(now.unfit, then.unfit);
      t.ok(then.history.items.length > 10);
      t.same(now.history, then.history, 'the history of that time is what it was');
    }
    const verified = await eventually('a verification of now: that of the start may be under way', async () => {
      const { body } = await story.admin.post('/api/v1/system/integrity', {});
      return body.code === 'already_running' ? undefined : body;
    });
    t.match(verified, { ok: true }, 'every row and every stream is what was written');

    await t.test('a batch that waited is started and one that was held goes on, to their records', async () => {
      await story.makeKey('another');
      await story.unitsReady();
      t.equal((await story.command(running, 'Restart')).status, 200);
      await finished(story, running, nothingTold());
      const pending = named(then, 'pending');
      await startBatch(story, pending);
      await finished(story, pending, nothingTold());
    });
  });
}

function named(then: Observed, part: string): string {
  const name = Object.keys(then.batches).find((batch) => batch.includes(`-${part}-`));
  if (name === undefined) throw new Error(`the fixture has no batch of the order WO-${part}`);
  return name;
}
