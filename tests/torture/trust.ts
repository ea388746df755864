/**
 * Whether evidence can be trusted (promise 7, G16), in full: a box with which people have worked, and single edits of what it holds and of
 * the copies that were taken of it. Of eleven rounds ten are edits, each of which must be found, and one looks at what nobody has edited.
 */
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { ApiAnswer } from '../support/api-client.js';
import { archive } from '../support/archive-data.js';
import type { Story } from '../support/batch-story.js';
import { SITE } from '../support/plant.js';
import { lived } from './appliances.js';
import type { Bench } from './bench.js';
import type { Round } from './scenario.js';
import { cleanRounds } from './trust-clean.js';
import { copyEdits } from './trust-copies.js';
import { dataEdits } from './trust-edits.js';

const EDITS_TO_ONE_CLEAN = 10;

/** One edit: what was done, and whether it was found; undefined where there was nothing to edit that way. */
export interface Edited {
  readonly what: string;
  readonly found: boolean;
}

export interface Family {
  readonly name: string;
  /** Of a hundred edits. */
  readonly share: number;
  edit(): Promise<Edited | undefined>;
}

export async function* trust(bench: Bench, rounds: number): AsyncIterable<Round> {
  const places = await lived(bench, worked);
  await bench.box.end('SIGKILL');
  const { older, stopped, killed } = places;
  await archive(stopped, 401, 700); // of two files one can take the place of the other
  const families = [...dataEdits(bench, { older, stopped, killed }), ...(await copyEdits(bench, { older, stopped }))];
  const turns = spread(families);
  const cleans = cleanRounds(bench, stopped);
  try {
    for (let round = 0, edit = 0; round < rounds; round += 1) {
      if (round % (EDITS_TO_ONE_CLEAN + 1) === EDITS_TO_ONE_CLEAN) {
        yield (await cleans.next()).value as Round;
        continue;
      }
      let done: Edited | undefined;
      let family: Family;
      do {
        family = turns[edit % turns.length] as Family;
        edit += 1;
        done = await family.edit();
      } while (!done);
      yield { what: `${family.name}: ${done.what}`, inside: family.name, problems: done.found ? [] : ['it was not found'] };
    }
  } finally {
    await cleans.return?.(undefined);
  }
}

/** A hundred turns in which each family comes as often as its share, and no two of one family in a row without need. */
function spread(families: readonly Family[]): readonly Family[] {
  return families
    .flatMap((family) => Array.from({ length: family.share }, (_, at) => ({ family, at: (at + 0.5) / family.share })))
    .sort((a, b) => a.at - b.at)
    .map(({ family }) => family);
}

/** The history is none, and large. */
export function isEvidence(file: string): boolean {
  return !path.basename(file).startsWith('historian');
}

export function copied(from: string, bench: Bench, name = 'edited'): string {
  const to = path.join(bench.work, name);
  rmSync(to, { recursive: true, force: true });
  cpSync(from, to, { recursive: true, filter: isEvidence });
  return to;
}

/** Signatures that stand, are superseded and withdrawn, legal holds that stand and are lifted, reviews. */
async function worked(story: Story): Promise<void> {
  await story.signIn(); // signatures ask for a fresh one
  await people(story, 'first');
}

/** @param id names what is made: no name is used twice. */
export async function people({ admin }: Story, id: string): Promise<void> {
  const sign = (name: string): Promise<any> =>
    done(admin.post('/api/v1/signatures', { target: { kind: 'Unit', name, site: 'demo' }, meaning: 'Reviewed', reason: 'looked at as the procedure asks' }));
  const { id: withdrawn } = await sign('rx101');
  await done(admin.post(`/api/v1/signatures/${withdrawn}/withdraw`, { reason: 'signed the wrong unit' }));
  await sign('rx101');
  await sign('mx101');
  for (const name of [`${id}-standing`, `${id}-lifted`]) await done(admin.post('/api/v1/legal-holds', { name, reason: 'claim of the customer', scope: { site: 'demo' } }));
  await done(admin.post(`/api/v1/legal-holds/${id}-lifted/lift`, { reason: 'claim was settled' }));
  const [from, to] = [new Date(Date.now() - 3_600_000).toISOString(), new Date(Date.now() - 1000).toISOString()];
  await done(admin.post('/api/v1/reviews/audit-trail', { site: 'demo', from, to, outcome: 'Accepted', remarks: 'nothing to remark' }));
  const { digest } = await done(admin.get('/api/v1/reviews/user-access/list'));
  await done(admin.post('/api/v1/reviews/user-access', { digest, outcome: 'Accepted', remarks: 'all are known' }));
  await done(admin.post(`/api/v1/legal-holds/${id}-standing/lift`, { reason: 'others follow' })).then(() =>
    done(admin.post('/api/v1/legal-holds', { name: `${id}-again`, reason: 'claim of another customer', scope: { site: 'demo' } })),
  );
  await done(admin.get(`${SITE}/batchrecord-seals`));
}

async function done(answer: Promise<ApiAnswer>): Promise<any> {
  const { status, text, body } = await answer;
  if (status >= 300) throw new Error(`${status} ${text}`);
  return body;
}
