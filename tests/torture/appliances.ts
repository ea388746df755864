/** Data directories that a plant has worked in, for scenarios that damage or edit them, and what a start on one of them says. */
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import Database from '../../src/platform/base/sqlite.js';
import { headFileOf, readHeadFile, readStreamEnds } from '../../src/platform/ledger/head-file.js';
import { openDeviceKeys } from '../../src/platform/ledger/keys.js';
import { observe, type Observed } from '../releases/observed.js';
import type { ApiClient } from '../support/api-client.js';
import { eventually } from '../support/api-client.js';
import type { ApplianceProcess } from '../support/appliance-process.js';
import { archive } from '../support/archive-data.js';
import { finished, nothingTold, startBatch, Story } from '../support/batch-story.js';
import { SITE } from '../support/plant.js';
import type { Bench } from './bench.js';

const START_WITHIN_MS = 60_000;
/** Audit records: so many are written, so that every part of their index has some, and the oldest go into a file of the archive. */
const RECORDS = 1500;
const ARCHIVED = 400;

export interface Lived {
  /** Stopped before the plant had made a batch. */
  readonly older: string;
  /** Stopped: a sealed record, an open one, a batch that waits, a file in the audit archive. */
  readonly stopped: string;
  /** The same, killed in the middle of a batch: its WAL has what `state.db` has not. */
  readonly killed: string;
  /** Of another appliance. */
  readonly foreign: string;
}

/** @param more what people do besides, before the box is stopped. */
export async function lived(bench: Bench, more: (story: Story) => Promise<void> = async () => undefined): Promise<Lived> {
  const places = Object.fromEntries(['older', 'stopped', 'killed', 'foreign'].map((name) => [name, path.join(bench.work, name)])) as unknown as Lived;
  const kept = (name: keyof Lived): void => cpSync(bench.dataDir, places[name], { recursive: true });
  await bench.start();
  await bench.box.end();
  kept('older');
  await bench.start();
  bench.load.start(2); // audit records of many kinds
  const sealed = await recorded(bench.story, 'WO-sealed');
  await done(bench.story.admin.post(`${SITE}/batchrecords/${sealed}/review`, { outcome: 'Accepted', comment: 'complete' }));
  await done(bench.story.admin.post(`${SITE}/batchrecords/${sealed}/finalize`, { reason: 'as the procedure asks' }));
  await recorded(bench.story, 'WO-open');
  await more(bench.story);
  const records = async (): Promise<number> => (await bench.story.admin.get('/api/v1/audit/verify')).body.lastSequence as number;
  await eventually(`there are ${RECORDS} audit records`, async () => (await records()) >= RECORDS, 120_000, 1000);
  await bench.load.stop();
  await bench.story.order('WO-pending');
  await bench.box.end();
  await archive(bench.dataDir, 1, ARCHIVED);
  kept('stopped');
  do {
    await bench.start();
    await bench.running();
    await bench.story.inState(bench.batch, 'Running');
    await bench.story.serve(bench.batch, nothingTold());
    await bench.box.end('SIGKILL');
    rmSync(places.killed, { recursive: true, force: true });
    kept('killed');
  } while (!knowsItsEnd(places.killed));
  mkdirSync(places.foreign);
  const other = await bench.appliance(places.foreign);
  await other.start();
  await new Story(other).commission();
  await other.end();
  return places;
}

/**
 * Whether the head names all that the WAL holds. A kill between the end of a commit and the writing of the head leaves behind what nobody was
 * told of, and what is not missed when it goes with the WAL.
 */
function knowsItsEnd(dataDir: string): boolean {
  const { auditHmac } = openDeviceKeys(dataDir);
  const database = new Database(path.join(dataDir, 'state.db'), { readonly: true }); // leaves the WAL as it is
  try {
    const ends = new Map(readStreamEnds(headFileOf(dataDir), auditHmac));
    const streams = database.prepare("SELECT stream, last FROM streams WHERE past = ''").all() as { stream: string; last: number }[];
    const sequence = database.prepare('SELECT MAX(sequence) FROM audit').pluck().get();
    return readHeadFile(headFileOf(dataDir), auditHmac)?.sequence === sequence && streams.every(({ stream, last }) => ends.get(stream) === last);
  } finally {
    database.close();
  }
}

async function recorded(story: Story, workOrder: string): Promise<string> {
  const batch = await story.order(workOrder);
  await startBatch(story, batch);
  await finished(story, batch, nothingTold());
  await eventually('the record is made', async () => (await story.admin.get(`${SITE}/batchrecords/${batch}`)).status === 200);
  return batch;
}

async function done(answer: ReturnType<ApiClient['post']>): Promise<void> {
  const { status, text } = await answer;
  if (status >= 300) throw new Error(text);
}

/** What became of a start. */
export type Outcome =
  | { readonly is: 'refused' | 'rescue'; readonly said: string }
  /** `told`: everything that the box says is wrong. */
  | { readonly is: 'started'; readonly told: string; readonly seen: Seen | undefined }
  | { readonly is: 'hung'; readonly said: string };

/** What must be as it was where nothing is told. */
export type Seen = Pick<Observed, 'batches' | 'records' | 'users' | 'keys' | 'recipes'> & { readonly events: readonly string[] };

/** Starts the box and asks it everything; it is left running when it has started. */
export async function asked(box: ApplianceProcess): Promise<Outcome> {
  await box.launch();
  let last = '';
  const ready = await eventually(
    'the start has ended one way or another',
    async () => {
      if (box.hasEnded) return 'refused' as const;
      const answer = await box.api.get('/readyz').catch(() => undefined);
      last = answer?.text ?? last;
      if (answer?.status === 200) return 'started' as const;
      return answer?.body?.status === 'rescue' ? ('rescue' as const) : undefined;
    },
    START_WITHIN_MS,
    20,
  ).catch(() => 'hung' as const);
  if (ready === 'hung') return { is: 'hung', said: `${last}\n${box.output}` };
  if (ready === 'refused') return { is: 'refused', said: box.output };
  if (ready === 'rescue') return { is: 'rescue', said: `${last}\n${(await box.api.get('/login')).text}` };
  const story = new Story(box);
  const before = box.output;
  await story.signIn().catch(() => undefined);
  if (!story.admin) return { is: 'started', told: before, seen: undefined };
  return { is: 'started', told: await toldBy(story.admin), seen: await seenBy(story.admin) };
}

async function toldBy(admin: ApiClient): Promise<string> {
  const said: string[] = [];
  const look = async (what: string, answer: ReturnType<ApiClient['get']>, wrong: (body: any) => unknown): Promise<void> => {
    const { status, body, text } = await answer;
    const found = status === 200 ? wrong(body) : text;
    if (found !== undefined && found !== false) said.push(`${what}: ${typeof found === 'string' ? found : JSON.stringify(found)}`);
  };
  await look('integrity', integrity(admin), (body) => !body.ok && body.problems);
  await look('audit/verify', admin.get('/api/v1/audit/verify'), (body) => !body.ok && { problems: body.problems.slice(0, 5), gaps: body.gaps });
  await look('health', admin.get('/api/v1/system/health'), ({ warnings, storage }) => {
    const found = [...warnings.filter((text: string) => !USUAL.test(text)), ...(storage?.unfit ?? []).map((row: unknown) => JSON.stringify(row))];
    return found.length > 0 && found;
  });
  await look('seals', admin.get(`${SITE}/batchrecord-seals`), (body) => !body.ok && body.problems);
  return said.join('\n');
}

/** The answer of a verification of ours: one begins by itself some seconds after each start. */
function integrity(admin: ApiClient): ReturnType<ApiClient['post']> {
  return eventually('no other verification is under way', async () => {
    const answer = await admin.post('/api/v1/system/integrity');
    return answer.body?.code === 'already_running' ? undefined : answer;
  });
}

/** What health says of every box of the tests. */
const USUAL = /development|below storage\.reserveBytes|free space/i;

async function seenBy(admin: ApiClient): Promise<Seen | undefined> {
  try {
    const { batches, records, users, keys, recipes, events } = await observe(admin);
    const lines = Object.entries(events).flatMap(([batch, list]) =>
      (list as { eventSubType: string; value: string; message: string }[]).map((event) => `${batch} ${event.eventSubType} ${event.value} ${event.message}`.replaceAll(TIME, '')),
    );
    return { batches, records: withoutTimes(records), users, keys, recipes, events: lines };
  } catch {
    return undefined; // something cannot be read any more
  }
}

/** When the box was started, and which unit came first, is not what it held. */
const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

/** BatchML tells when it was asked for. */
function withoutTimes(records: Observed['records']): Observed['records'] {
  return Object.fromEntries(Object.entries(records).map(([name, { json }]) => [name, { json, xml: '' }]));
}

/** A copy to work on, in place of the one before. */
export function copyOf(bench: Bench, from: string): string {
  const to = path.join(bench.work, 'copy');
  rmSync(to, { recursive: true, force: true });
  cpSync(from, to, { recursive: true });
  return to;
}

export function pagesOf(file: string): number {
  const database = new Database(file, { readonly: true });
  try {
    return database.pragma('page_count', { simple: true }) as number;
  } finally {
    database.close();
  }
}
