/** One sentence for what is outside its limits, whoever says it. */
import t from 'tap';
import { outsideWords } from '../../../src/domains/procedures/value-fault.js';

t.test('what is outside its limits is told with those that there are, and with their unit', (t) => {
  const rows: readonly [min: string, max: string, unit: string, words: string][] = [
    ['0', '100', 'rpm', 'speed 120 is outside 0 to 100 rpm'],
    ['', '100', '', 'speed 120 is outside any to 100'],
    ['200', '', 'rpm', 'speed 120 is outside 200 to any rpm'],
  ];
  for (const [min, max, unit, words] of rows) t.equal(outsideWords('speed 120', min, max, unit), words);
  t.end();
});
