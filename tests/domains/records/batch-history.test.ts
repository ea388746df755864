/** What the historian holds of a batch, as its record tells it (decisions 8.2). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { openHistorian } from '../../../src/domains/historian/sampling.js';
import { readSeries } from '../../../src/domains/records/batch-history.js';

const T0 = Date.UTC(2026, 0, 31, 9, 0, 0);

t.test('8.2: a tag whose module was moved from one unit of the batch to the other is told of each with the samples of that one', async (t) => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'lineside-batch-history-'));
  const history = await openHistorian(dataDir, {
    historianIntervalMinMs: 1000,
    historianFlushIntervalMs: 2000,
    historianRetentionMs: 400 * 86_400_000,
    historianBytesMax: 2 ** 34,
  });
  t.teardown(async () => {
    await history.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  for (const [at, unit] of ['r1', 'r2'].entries()) history.push(history.tag({ site: 'north', unit, address: 'ti1.PV', tag: 'PV', dataType: 'Float' }), 0, T0 + at * 1000, at);
  const series = await readSeries(history, { site: 'north', units: ['r1', 'r2'], from: new Date(T0).toISOString(), to: '' });
  t.same(
    series.map(({ unit, samples }) => [unit, samples.map(({ value }) => value)]),
    [
      ['r1', [0]],
      ['r2', [1]],
    ],
  );
});
