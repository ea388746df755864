/** The thread that asks OPC UA servers: its faults are told, and one that has ended leaves no question unanswered. */
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import type { BoxNotice } from '../../../runtime/port.js';
import { Explorer, type Question } from '../../../src/domains/discovery/explorer.js';
import { onContained } from '../../../src/platform/base/guarded.js';
import { opcuaSecurity } from '../../support/opcua-module.js';
import { ownFolder } from '../../support/own-folder.js';
import { TestClock } from '../../support/test-clock.js';
import { testLog } from '../../support/test-log.js';

const folder = ownFolder(t);
const security = opcuaSecurity(folder);
const HOUR_MS = 3_600_000;
const identity: Question = { endpointUrl: 'of this box', security, credentials: undefined, timeoutMs: 5000, ask: { what: 'identity' } };

function explorerOf(t: Test) {
  const clock = new TestClock();
  const logged: string[] = [];
  const notices: BoxNotice[] = [];
  const explorer = new Explorer({ clock, log: testLog(({ msg = '' }) => logged.push(msg)), notice: (notice) => notices.push(notice) });
  t.teardown(() => explorer.stop());
  return { clock, logged, notices, explorer };
}

/** Takes connections and says nothing. */
async function silent(t: Test): Promise<{ readonly question: Question; readonly reached: Promise<unknown> }> {
  const server = net.createServer((socket) => socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const endpointUrl = `opc.tcp://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { question: { ...identity, endpointUrl, timeoutMs: HOUR_MS, ask: { what: 'endpoints' } }, reached: once(server, 'connection') };
}

t.test('a fault of ours in the thread is told, answers its question, and ends neither the thread nor the other questions', async (t) => {
  const { explorer, notices } = explorerOf(t);
  const contained: string[] = [];
  t.teardown(onContained((seam, fault) => void contained.push(`${seam}: ${String(fault)}`)));
  const reply = await explorer.ask('anna', { ...identity, security: undefined as never });
  t.match(reply, { ok: false, reason: 'unreachable', opcStatus: 'BadInternalError', message: /folder/ });
  t.match(contained, [/^question of the explorer: TypeError/]);
  t.match(await explorer.ask('anna', identity), { ok: true, answer: { sha256: /^[0-9a-f]{64}$/ } });
  t.match(notices, [{ action: 'Create', message: /has made its OPC UA identity/ }], 'and what it does to the box is told');
  t.equal(contained.length, 1);
});

t.test('a thread that does not answer is ended: its questions are answered so, what waited is asked of the next thread, and a box that stops answers all', async (t) => {
  const { clock, explorer, logged } = explorerOf(t);
  const { question, reached } = await silent(t);
  const lost = explorer.ask('anna', question);
  await reached;
  const behind = explorer.ask('anna', { ...question, timeoutMs: 200 }); // one at a time to a server
  clock.advance(HOUR_MS + 10_000);
  const next = explorer.ask('ben', identity);
  t.match(await lost, { ok: false, reason: 'unreachable', opcStatus: 'BadShutdown', message: 'the thread that asks servers has ended' });
  t.match(await next, { ok: true });
  t.match(await behind, { ok: false, message: /within 200 ms/ });
  t.match(logged, ['the explorer thread does not answer and is ended']);
  const asked = [question, question].map((each) => explorer.ask('ben', each));
  await explorer.stop();
  const settled = await Promise.all(asked);
  t.match(settled.map((reply) => (reply.ok ? '' : reply.message)).sort(), ['the box is stopping', 'the thread that asks servers has ended']);
});
