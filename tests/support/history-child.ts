/** Records samples and reports how many were flushed, until it is killed: `node history-child.js <dataDir> <from>`. */
import { writeSync } from 'node:fs';
import { openHistory } from '../../src/platform/history/history.js';
import { leading } from './at.js';

const T0 = Date.UTC(2026, 0, 31, 9, 0, 0);
const [, , dataDir, from] = leading(process.argv, 4);
const history = await openHistory(dataDir, { flushIntervalMs: 2000, retentionMs: 1e12, bytesMax: 2 ** 34, qualityWords: ['Good'] });
const id = history.tag({ site: 'north', unit: 'u1', address: 'a.pv', tag: 'pv', dataType: 'Float' });
for (let index = Number(from); ; ) {
  for (const end = index + 250; index < end; index += 1) history.push(id, 0, T0 + index * 1000, index);
  await history.flush();
  writeSync(1, `${index}\n`);
  if (index % 1000 === 0) await history.maintain(T0);
}
