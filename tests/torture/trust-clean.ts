/**
 * What nobody has edited, looked at as edits are: the live box as a kill at any moment would leave it, and copies of it that were started
 * again, written on, killed, archived, backed up and restored, in any order. One round is one look; whatever is found is a false alarm.
 */
import { rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { LedgerTransaction } from '../../src/platform/ledger/protocol.js';
import type { StateWriter } from '../../src/platform/ledger/state-writer.js';
import { decode, Message } from '../../src/platform/ledger/wire.js';
import type { ApiAnswer } from '../support/api-client.js';
import { eventually } from '../support/api-client.js';
import { archive, cutOf, withWriter } from '../support/archive-data.js';
import { at } from '../support/at.js';
import { auditDraft, resource, transaction } from '../support/ledger-data.js';
import { verified } from '../support/row-edits.js';
import { keyPair } from '../support/sealed-tar.js';
import type { Bench } from './bench.js';
import type { Round } from './scenario.js';
import { people } from './trust.js';
import { backedUp, copyAside, endOf, exported, judged, knownKeys, restoredTo } from './trust-copies.js';
import { type Below, belowOf } from './trust-edits.js';

/** Looks between two starts of the live box, one of which is asked for by its people. */
const LOOKS_OF_ONE_START = 25;
/** Of so many looks one at the live box, the others at copies of what was seen of it last. */
const LIVE_ONCE_IN = 3;
const STEPS_MAX = 4;
const MOMENT_MAX_MS = 400;

export async function* cleanRounds(bench: Bench, first: string): AsyncGenerator<Round, void> {
  const below = belowOf(bench.random);
  const seen = path.join(bench.work, 'seen');
  const key = await keyPair();
  copyAside(first, seen);
  let starts = 0;
  for (let look = 0; ; look += 1) {
    if (look % LOOKS_OF_ONE_START === 0) {
      await startedAnew(bench, starts, below);
      starts += 1;
      yield await askedItself(bench, `start ${starts}`);
      continue;
    }
    if (look % LIVE_ONCE_IN === 0) {
      const what = await livingImage(bench, seen, below);
      yield { what: `clean: ${what}`, inside: 'clean, a kill of the live box', problems: await problemsOf(seen) };
      continue;
    }
    const dir = path.join(bench.work, 'clean');
    copyAside(seen, dir);
    const done: string[] = [];
    const problems: string[] = [];
    for (let step = below(STEPS_MAX); step >= 0; step -= 1) {
      const [what, work] = at(STEPS, below(STEPS.length));
      done.push(what);
      problems.push(...(await work({ bench, dir, below, key })));
    }
    yield { what: `clean: ${done.join(', ')}`, inside: 'clean, a copy', problems: [...problems, ...(await problemsOf(dir))] };
  }
}

async function problemsOf(dir: string): Promise<string[]> {
  const { ok, ...found } = await verified(dir);
  return ok ? [] : [JSON.stringify(found).slice(0, 600)];
}

/** Half of the times after a kill; what people do is done once more. */
async function startedAnew(bench: Bench, starts: number, below: Below): Promise<void> {
  if (starts > 0) await bench.box.end(below(2) === 0 ? 'SIGKILL' : undefined);
  await bench.start();
  await people(bench.story, `start-${starts}`);
}

/** The verification that an administrator asks for: it looks at records and signatures, too. */
async function askedItself(bench: Bench, what: string): Promise<Round> {
  const answer: ApiAnswer = await eventually('no other verification is under way', async () => {
    const given = await bench.story.admin.post('/api/v1/system/integrity');
    return given.body?.code === 'already_running' ? undefined : given;
  });
  const isClean = answer.status < 300 && answer.body.ok === true;
  return { what: `clean: the live box asked, ${what}`, inside: 'clean, the live box asked', problems: isClean ? [] : [answer.text.slice(0, 600)] };
}

/** Its files at one moment among its writes: as a kill in this moment leaves them. */
async function livingImage({ box, load, dataDir }: Bench, to: string, below: Below): Promise<string> {
  load.start(2);
  const ms = below(MOMENT_MAX_MS);
  await pause(ms);
  process.kill(box.pid, 'SIGSTOP');
  try {
    copyAside(dataDir, to);
  } finally {
    process.kill(box.pid, 'SIGCONT');
  }
  await load.stop();
  return `killed after ${ms} ms of writing`;
}

interface Step {
  readonly bench: Bench;
  readonly dir: string;
  readonly below: Below;
  readonly key: Awaited<ReturnType<typeof keyPair>>;
}

/** What becomes of a data directory in its life; each gives sentences of what is wrong. */
const STEPS: readonly (readonly [string, (step: Step) => Promise<readonly string[]>])[] = [
  ['started and stopped', async ({ dir }) => over(dir, () => undefined)],
  ['written on', async ({ dir, below }) => over(dir, (writer) => write(writer, dir, below))],
  ['written on and killed', killed],
  [
    'nonces forgotten',
    async ({ dir, below }) =>
      over(dir, (writer) => {
        write(writer, dir, below);
        writer.rest();
      }),
  ],
  ['a signed end', async ({ dir }) => over(dir, (writer) => writer.signEnd())],
  ['archived', archived],
  ['backed up and restored', backedUpAndRestored],
  [
    'exported',
    async ({ dir }) => {
      const { known, keyId } = knownKeys(dir);
      const { ok, problems } = judged(await exported(dir), known, keyId, []);
      return ok ? [] : [`the export: ${problems.join('; ')}`];
    },
  ],
];

function over(dir: string, work: (writer: StateWriter) => void): readonly string[] {
  withWriter(dir, (writer) => {
    writer.load(0);
    work(writer);
  });
  return [];
}

/** Some commits of all that a commit can hold. */
function write(writer: StateWriter, dir: string, below: Below): void {
  const first = endOf(dir) + 1;
  const { resourceVersion } = writer.load(0); // a restore leaves some out
  for (let count = 0; count <= below(40); count += 1) {
    const sequence = first + count;
    const name = `clean-${below(20)}`;
    const version = resourceVersion + 1 + count;
    const changes = below(4) === 0 ? { removes: [{ kind: 'Unit', site: 'north', name }] } : { puts: [resource('Unit', 'north', name, version)] };
    const facts = below(2) === 0 ? [] : [{ stream: `clean/${sequence}`, sequence: 1, body: { sequence } }];
    const nonces = below(2) === 0 ? [] : [{ hash: sequence.toString(16).padStart(64, '0'), atMs: Date.now() }];
    commit(writer, transaction({ ...changes, facts, nonces, audits: [auditDraft(sequence)] }));
  }
}

function commit(writer: StateWriter, ...transactions: readonly LedgerTransaction[]): void {
  const message = new Message();
  for (const each of transactions) message.add(each);
  const taken = decode(message.fields);
  const refused = writer.commit(() => taken.splice(0)).filter((answer) => answer !== null);
  if (refused.length > 0) throw new Error(String(refused[0]));
}

/** What is on the disk while the writer has it open is what a kill leaves. */
async function killed({ dir, below }: Step): Promise<readonly string[]> {
  const left = `${dir}-left`;
  over(dir, (writer) => {
    write(writer, dir, below);
    copyAside(dir, left);
  });
  copyAside(left, dir);
  rmSync(left, { recursive: true });
  return [];
}

async function archived({ dir, below }: Step): Promise<readonly string[]> {
  const first = cutOf(dir) + 1;
  const last = first + 100 + below(200);
  if (last < endOf(dir)) await archive(dir, first, last);
  return [];
}

async function backedUpAndRestored({ bench, dir, key }: Step): Promise<readonly string[]> {
  const backup = await backedUp(bench, dir, key, 'clean');
  const again = `${dir}-again`;
  await restoredTo(again, backup, key);
  copyAside(again, dir);
  rmSync(again, { recursive: true });
  return [];
}
