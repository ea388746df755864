/** Rows of `state.db` that somebody edits past the gateway while the box is off (D-C-10): each single edit is found, or the start is refused. */
import path from 'node:path';
import Database from '../../src/platform/base/sqlite.js';
import { EDITS_FOR_THE_START, editRow, manyEdits, type RowEdit, verified } from '../support/row-edits.js';
import { asked, copyOf, lived } from './appliances.js';
import type { Bench } from './bench.js';
import type { Round } from './scenario.js';

/** Of the edits that verification finds, so many are shown to a box as well. */
const STARTED_EACH = 20;

export async function* edits(bench: Bench, rounds: number): AsyncIterable<Round> {
  const { stopped } = await lived(bench);
  const whole = await verified(copyOf(bench, stopped));
  if (!whole.ok) throw new Error(`what nobody has edited is said to be: ${JSON.stringify(whole).slice(0, 500)}`);
  const database = new Database(path.join(stopped, 'state.db'), { readonly: true });
  const all = [...EDITS_FOR_THE_START, ...manyEdits(database, Math.floor(bench.random() * 2 ** 31), 2 * rounds)];
  database.close();
  let done = 0;
  for (const edit of all) {
    if (done === rounds) return;
    const dir = copyOf(bench, stopped);
    if (!editRow(path.join(dir, 'state.db'), edit)) continue; // of some kinds there is one row only, and nothing to exchange it with
    yield await found(bench, dir, edit, done % STARTED_EACH === 0);
    done += 1;
  }
}

async function found(bench: Bench, dir: string, edit: RowEdit, started: boolean): Promise<Round> {
  const inside = edit.what.slice(0, edit.what.indexOf(':'));
  const { ok } = await verified(dir);
  if (!ok && !started) return { what: `${edit.what}: found`, inside, problems: [] };
  const box = await bench.appliance(dir);
  const outcome = await asked(box);
  await box.end('SIGKILL');
  const silent = outcome.is === 'started' && outcome.told === '';
  const problems = silent ? ['the box started and says nothing'] : outcome.is === 'hung' ? [`the start neither ended nor was ready: ${outcome.said.slice(-500)}`] : [];
  return { what: `${edit.what}: ${outcome.is}${silent ? ', nothing told' : outcome.is === 'started' ? ', told' : ''}`, inside, problems };
}
