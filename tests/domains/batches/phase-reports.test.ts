/** What phases tell is kept until it is on disk, and no longer. */
import pino from 'pino';
import t from 'tap';
import { parse } from 'valibot';
import type { UnitOutbound } from '../../../runtime/port.js';
import { type Asked, type PhaseRequests, PhaseReports, type RequestAnswer } from '../../../src/domains/batches/phases/phase-reports.js';
import type { UnitLink } from '../../../src/domains/placement/runtimes.js';
import { Phase, PhaseSpec } from '../../../src/domains/procedures/kind.js';
import type { Put } from '../../../src/platform/store/kind.js';
import { freshStore } from '../../support/fresh-store.js';

/** More than are kept while nothing can be written. */
const MANY = 50_001;

t.test('a message that cannot be handled is told by its seam and is not kept: it takes no place of one that waits for the disk', async (t) => {
  const { store, clock } = await freshStore(t);
  await store.write({ puts: [{ kind: Phase, site: 'north', name: 'p1', spec: parse(PhaseSpec, {}) } as Put] });
  const told: string[] = [];
  const log = pino({ level: 'error' }, { write: (line) => void told.push(line) });
  const reports = new PhaseReports({
    store,
    log,
    clock,
    requests: {} as PhaseRequests,
    wake: () => undefined,
    orderAnswered() {
      throw new Error('nobody has asked for it');
    },
    signalsChanged: () => undefined,
  });
  const link = { site: 'north', unit: 'u1' } as UnitLink;
  const answer = { type: 'command-result', phase: 'p1', id: 1, accepted: true, state: 'Idle' } as unknown as UnitOutbound;
  t.throws(() => reports.take(link, answer), /nobody has asked for it/);
  for (let at = 1; at < MANY; at += 1) {
    try {
      reports.take(link, answer);
    } catch {
      // as its seam does
    }
  }
  t.same(told, [], 'nothing is dropped, since nothing is kept');
});

t.test('MTP-02: a command of a chart that gives up, or whose runtime ends, is told so at once; one that was kept for the disk is not carried out', async (t) => {
  const { store, clock } = await freshStore(t);
  await store.write({ puts: [{ kind: Phase, site: 'north', name: 'p1', spec: parse(PhaseSpec, {}) } as Put] });
  const asked: Asked[] = [];
  const ends: ((answer: RequestAnswer) => void)[] = [];
  const reports = new PhaseReports({
    store,
    log: pino({ level: 'silent' }),
    clock,
    requests: { mtpCommand: (_phase: unknown, _args: unknown, order: Asked) => new Promise((resolve) => (asked.push(order), ends.push(resolve))) } as unknown as PhaseRequests,
    wake: () => undefined,
    orderAnswered: () => undefined,
    signalsChanged: () => undefined,
  });
  const sent: unknown[] = [];
  const link = { site: 'north', unit: 'u1', epoch: 1, ready: true, send: (message: unknown) => sent.push(message) } as unknown as {
    -readonly [Key in keyof UnitLink]: UnitLink[Key];
  };
  const request = (id: number): UnitOutbound => ({ type: 'request', id, phase: 'p1', step: 'a', builtin: 'MTP_COMMAND', args: ['m/s', 'Start'], atMonoMs: 42 });
  const givenUp = (id: number): UnitOutbound => ({ type: 'request-given-up', id, phase: 'p1' });
  const waiting = () => asked.map(({ stillWaits, gaveUp }) => [stillWaits(), gaveUp.aborted]);
  reports.take(link, request(1));
  reports.take(link, request(2));
  t.equal(asked[0]?.atMonoMs, 42, 'its time counts from when the chart asked');
  reports.take(link, givenUp(1));
  reports.take({ ...link } as UnitLink, givenUp(2));
  t.same(
    waiting(),
    [
      [false, true],
      [true, false],
    ],
    'that one of that unit',
  );
  link.epoch = 2;
  t.same(waiting()[1], [false, false], 'nobody is left who takes the answer');
  for (const end of ends) end({ ok: true, value: true });
  let isAccepting = false;
  Object.defineProperty(store, 'accepting', { get: () => isAccepting });
  reports.take(link, request(3));
  reports.take(link, request(4));
  t.same(sent, [], 'of those that are carried out whoever carries them out tells');
  reports.take(link, givenUp(3));
  t.match(sent, [{ type: 'request-result', id: 3, ok: false, rule: 'mtp-command-withdrawn', message: /did not go out/ }]);
  isAccepting = true;
  reports.takeKept();
  t.equal(asked.length, 3, 'the one that nobody has given up');
});
