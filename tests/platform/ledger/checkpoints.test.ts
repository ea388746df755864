/** A checkpoint that never succeeds is told of before the disk is full. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import Database from '../../../src/platform/base/sqlite.js';
import { CheckpointWatch } from '../../../src/platform/ledger/checkpoint-watch.js';
import { openDeviceKeys } from '../../../src/platform/ledger/keys.js';
import { StateWriter } from '../../../src/platform/ledger/state-writer.js';
import { TestClock } from '../../support/test-clock.js';

t.test('a disk that refuses it is trouble after 30 s, a reader that holds it after 5 minutes, and neither when it succeeds', (t) => {
  const clock = new TestClock();
  const watch = new CheckpointWatch(clock);
  t.equal(watch.trouble, null);
  watch.refused('disk I/O error');
  t.ok(watch.isDue);
  clock.advance(29_999);
  watch.refused('disk I/O error');
  t.equal(watch.trouble, null);
  clock.jump(86_400_000);
  t.equal(watch.trouble, null, 'a clock that is set makes no trouble');
  clock.advance(1);
  t.equal(watch.trouble, 'disk I/O error');
  watch.whole();
  t.equal(watch.trouble, null);
  watch.held();
  clock.advance(299_999);
  t.equal(watch.trouble, null);
  clock.advance(1);
  t.match(watch.trouble, /reader/);
  t.end();
});

t.test('the writer of state.db says so while a reader holds the WAL, and no longer', (t) => {
  const dir = mkdtempSync(path.join(tmpdir(), 'lineside-checkpoints-'));
  const clock = new TestClock();
  const writer = new StateWriter(dir, openDeviceKeys(dir), undefined, clock);
  t.teardown(() => {
    writer.close();
    rmSync(dir, { recursive: true, force: true });
  });
  writer.load(0);
  const reader = new Database(path.join(dir, 'state.db'));
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM meta').get();
  for (let minute = 0; minute < 5; minute += 1) {
    t.equal(writer.checkpointTrouble, null, `minute ${minute}`);
    writer.probe();
    writer.rest();
    clock.advance(60_000);
  }
  t.match(writer.checkpointTrouble, /reader/);
  reader.exec('COMMIT');
  reader.close();
  writer.rest();
  t.equal(writer.checkpointTrouble, null);
  t.end();
});
