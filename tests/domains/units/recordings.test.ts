/** What is said of a recording while its end is being put on disk (ADR 0005). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import t from 'tap';
import type { RecordingPart, UnitInbound } from '../../../runtime/port.js';
import { Recordings } from '../../../src/domains/units/recordings.js';
import type { UnitLink } from '../../../src/domains/placement/runtimes.js';
import { TestClock } from '../../support/test-clock.js';

t.test('ADR 0005: a recording is under way until its end is on disk; who stops it or starts the next one waits for that', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'lineside-recordings-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const clock = new TestClock();
  const settings = { durationMaxMs: 60_000, bytesMax: 1e6, keep: 4 };
  const recordings = new Recordings({ folder, clock, log: pino({ level: 'silent' }), settings, storageLow: () => false, madeBy: 'the test' });
  const say = (recording: string, part: RecordingPart): void => recordings.take(link, { type: 'recording', recording, part });
  const send = (message: UnitInbound): void => {
    if (message.type === 'record') say(message.recording, { kind: 'start', start: { scan: 7 } as never });
  };
  const link = { site: 'north', unit: 'r1', send } as unknown as UnitLink;
  const shown = (): string[] => recordings.list('north', 'r1').map(({ state, ending }) => `${state} ${ending}`.trim());

  const { id } = await recordings.start(link, 1000, 'somebody');
  t.same(shown(), ['Recording']);
  say(id, { kind: 'end', scan: 9, wallMs: 0, ending: 'duration' });
  t.same(shown(), ['Recording'], 'not yet on disk, and nobody has interrupted it');
  await t.rejects(recordings.read('north', 'r1', id), { name: 'Refusal', context: { code: 'recording_active' } });
  recordings.linkDown(link);
  clock.advance(1000);
  const [ended, next] = await Promise.all([recordings.stop(link), recordings.start(link, 1000, 'somebody')]);
  t.match(ended, { id, state: 'Complete', ending: 'duration' });
  t.not(next.id, id);
  t.same(shown(), ['Recording', 'Complete duration']);
  t.equal((await recordings.read('north', 'r1', id)).bytes.length, ended.bytes);

  recordings.linkDown(link);
  t.same(shown(), ['Recording', 'Complete duration']);
  clock.advance(1000);
  const both = await Promise.allSettled([recordings.start(link, 1000, 'somebody'), recordings.start(link, 1000, 'somebody else')]);
  t.match(
    both,
    [
      { status: 'fulfilled', value: { startedBy: 'somebody' } },
      { status: 'rejected', reason: { context: { code: 'recording_active' } } },
    ],
    'of two at once one begins',
  );
  t.same(shown(), ['Recording', 'Interrupted runtime-down', 'Complete duration']);
  await recordings.close();
  t.same(shown(), ['Interrupted runtime-down', 'Interrupted runtime-down', 'Complete duration']);
});
