/** The table of texts: what nothing uses is released, what there is no room for is no value, and no id ever has two texts. */
import t from 'tap';
import { FIXED_COUNT, NO_TEXT, TextTable } from '../../../runtime/network/texts.js';
import { at } from '../../support/at.js';

t.test('D-IO-01: texts that nothing uses any more are released; those in use stay, under ids that are never used again', async (t) => {
  const gone: number[] = [];
  const told = new Map<number, string>();
  const table = new TextTable({
    announce: (id, text) => {
      if (told.has(id)) t.fail(`id ${id} has two texts`);
      told.set(id, text);
    },
    release: (ids) => gone.push(...ids),
  });
  const memory = new Float64Array(3);
  memory[0] = table.intern('Reactor door OPEN');
  for (let second = 0; second < 200_000; second += 1) {
    memory[1] = table.intern(`2026-11-22T12:${second}`);
    if (table.isSweepDue) table.sweep([memory]);
  }
  t.equal(table.text(memory[0]), 'Reactor door OPEN');
  t.equal(table.text(at(memory, 1)), '2026-11-22T12:199999');
  t.ok(gone.length > 185_000, `${gone.length} released`);
  t.equal(table.intern('Reactor door OPEN'), memory[0]);
  const again = table.intern('2026-11-22T12:0');
  t.ok(again >= FIXED_COUNT + 200_000, 'a text that comes back has a new id');
  const copy = new TextTable();
  copy.restore(table.snapshot());
  t.same([copy.text(memory[0]), copy.count, copy.intern('next')], ['Reactor door OPEN', table.count, table.intern('next')], 'a replay goes on with the same ids');
});

t.test('D-IO-01: where too many texts are in use, a further one is no value, never another text', async (t) => {
  const table = new TextTable();
  const memory = new Float64Array(200_000);
  for (let n = 0; n < memory.length; n += 1) memory[n] = table.intern(`text ${n}`);
  table.sweep([memory]);
  t.equal(table.intern('one more'), NO_TEXT);
  t.equal(table.text(NO_TEXT), '');
  memory.fill(0, 0, 1000);
  table.sweep([memory]);
  t.ok(table.intern('one more') > 0, 'there is room again');
});
