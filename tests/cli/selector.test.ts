/** Selectors of labels: which there are, what they choose, and that nothing else is taken for one. */
import t from 'tap';
import { readSelector } from '../../src/cli/remote/selector.js';
import { localContext, rowOf } from './support.js';

const LABELS = { plant: 'brewery', 'example.org/stage': 'trial', empty: '' };

t.test('=, == and != choose by labels, and of several all must hold', (t) => {
  for (const [text, matches, ofNone] of [
    ['plant=brewery', true, false],
    ['plant==brewery', true, false],
    ['plant == brewery', true, false],
    ['plant=dairy', false, false],
    ['plant!=dairy', true, true],
    ['plant!=brewery', false, true],
    ['plant=brewery,example.org/stage!=series', true, false],
    ['plant=brewery, example.org/stage!=trial', false, false],
    ['empty=', true, false],
    ['toString=x', false, false],
    ['toString!=x', true, true],
    ['plant = brewery , example.org/stage == trial', true, false],
    ['plant != x', true, true],
  ] as const) {
    const selector = readSelector(text);
    t.equal(selector.matches(LABELS), matches, text);
    t.equal(selector.matches(undefined), ofNone, `${text} of nothing`);
  }
  t.equal(readSelector('a!=b').isPositive, false);
  t.equal(readSelector('a!=b,c=d').isPositive, true);
  t.end();
});

t.test('what cannot be parsed is a usage error that names the part', async (t) => {
  for (const [text, told] of [
    ['plant', /-l plant: plant has no =; give key=value/],
    ['plant===brewery', /=brewery of plant===brewery can be no value of a label/],
    ['=brewery', /=brewery names no label/],
    ['plant=a b', /a b of plant=a b can be no value/],
    ['my plant=a', /my plant of my plant=a can be no key/],
    ['plant=a,,b=c', /a part is empty/],
    ['', /a part is empty/],
    ['plant in (a, b)', /-l plant in \(a, b\): plant in \(a, b\) is a set or the lack of a label, which is not known here/],
    ['!plant', /!plant is a set or the lack of a label/],
    ['plant=a=b', /a=b of plant=a=b can be no value/],
    ['plant=!=b', /!=b of plant=!=b can be no value/],
    ['plant!==b', /=b of plant!==b can be no value/],
    ['plant=x,stage in (a,b)', /: stage in \(a,b\) is a set or the lack of a label/],
    [`plant=${'a'.repeat(1000)}`, /^-l plant=a{191}\.\.\.: it has 1006 characters, and a selector has at most 1000: choose by fewer labels$/],
  ] as const) {
    t.throws(() => readSelector(text), told, text);
    // before a file is read or a box is asked
    await t.rejects(rowOf('apply').run(localContext([], { prune: true, selector: text })), { exitCode: 2, message: told });
  }
  await t.rejects(rowOf('apply').run(localContext([], { selector: 'plant=brewery' })), { exitCode: 2, message: /names what --prune removes/ });
  await t.rejects(rowOf('apply').run(localContext([], { prune: true, selector: 'plant!=brewery' })), { exitCode: 2, message: /would remove what carries no label of yours/ });
});
