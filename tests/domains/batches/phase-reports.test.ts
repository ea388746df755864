/** What phases tell is kept until it is on disk, and no longer. */
import pino from 'pino';
import t from 'tap';
import { parse } from 'valibot';
import type { UnitOutbound } from '../../../runtime/port.js';
import { type PhaseRequests, PhaseReports } from '../../../src/domains/batches/phases/phase-reports.js';
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
