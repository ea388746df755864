/** What is counted of the way to a device, poll by poll (ADR 0076). */
import t from 'tap';
import { ModuleStatistics } from '../../../runtime/io/statistics.js';
import { ROUND_TRIP_UP_TO_MS } from '../../../runtime/io/statistics-words.js';
import { at } from '../../support/at.js';

const [LEVEL, FLOW] = [{ channel: 0 }, { channel: 1 }];
const BOTH = [LEVEL, FLOW];
const NONE = { silent: 0, refused: 0, lost: 0, malformed: 0 };

t.test('ADR 0076: a poll is counted by how it ended, each channel by what was delivered of it', async (t) => {
  const statistics = new ModuleStatistics(2, 1000);
  const { channels } = statistics;
  channels.begin(BOTH);
  channels.good(0, 50);
  channels.bad(1, 'refused');
  statistics.end(channels, BOTH, { status: 'answered' }, 3);
  channels.begin(BOTH);
  channels.bad(0, 'malformed');
  statistics.end(channels, BOTH, { status: 'answered' }, 7000);
  channels.begin(BOTH);
  channels.bad(0, 'refused');
  statistics.end(channels, BOTH, { status: 'silent', message: '' }, 1000);
  channels.begin([LEVEL]);
  statistics.end(channels, [LEVEL], { status: 'lost', message: '' }, 1);
  channels.begin([LEVEL]);
  statistics.end(channels, [LEVEL], { status: 'lost', message: '', isMalformed: true }, 1);
  statistics.late();
  const { roundTrip, ...counts } = statistics.report(80);
  t.same(counts, {
    sinceMs: 1000,
    polls: 5,
    latePolls: 1,
    reconnects: 0,
    failedConnects: 0,
    errors: { silent: 1, refused: 1, lost: 1, malformed: 2 },
    arrivals: null,
    channels: [
      { lastGoodAgeMs: 30, good: 1, errors: { silent: 1, refused: 0, lost: 1, malformed: 2 } },
      { lastGoodAgeMs: null, good: 0, errors: { silent: 1, refused: 1, lost: 0, malformed: 0 } },
    ],
  });
  t.match(roundTrip, { sumMs: 7003, maxMs: 7000 }, 'what was not answered took no round trip');
  t.equal(roundTrip.counts.length, ROUND_TRIP_UP_TO_MS.length + 1);
  t.equal(at(roundTrip.counts, ROUND_TRIP_UP_TO_MS.indexOf(5)), 1);
  t.equal(roundTrip.counts.at(-1), 1, 'behind the last bound');
});

t.test('ADR 0076: bounds belong to their bucket; connections after the first are reconnects', async (t) => {
  const statistics = new ModuleStatistics(0, 0);
  for (const ms of [0, ...ROUND_TRIP_UP_TO_MS, 5000.1]) statistics.end(statistics.channels, [], { status: 'answered' }, ms);
  t.same(statistics.report(0).roundTrip.counts, [2, ...ROUND_TRIP_UP_TO_MS.slice(1).map(() => 1), 1]);
  for (let count = 0; count < 3; count += 1) statistics.connected();
  statistics.connectFailed();
  t.match(statistics.report(0), { reconnects: 2, failedConnects: 1 });
});

t.test('ADR 0076: a poll of before the channels changed counts for those of before', async (t) => {
  const statistics = new ModuleStatistics(2, 0);
  const { channels } = statistics;
  channels.begin(BOTH);
  statistics.renew(1);
  channels.bad(1, 'refused');
  statistics.end(channels, BOTH, { status: 'answered' }, 1);
  t.match(statistics.report(0), { polls: 1, errors: { refused: 1 }, channels: [{ lastGoodAgeMs: null, good: 0, errors: NONE }] });
});

t.test('ADR 0096: what comes by itself is counted as it comes: samples and Bad ones by channel, messages by what they were, reads beside it as polls', async (t) => {
  const statistics = new ModuleStatistics(2, 0);
  const arrived = statistics.follow();
  arrived.good(0, 50);
  arrived.bad(1, 'refused');
  statistics.heard(false);
  statistics.heard(true);
  statistics.proven(BOTH, 60);
  arrived.good(0, 70);
  statistics.asked('reread', { status: 'answered' }, 3);
  arrived.bad(0, 'silent');
  arrived.bad(1, 'silent');
  statistics.asked('reread', { status: 'silent', message: '' }, 1000);
  statistics.asked('sign', { status: 'answered' }, 2);
  arrived.good(0, 80);
  statistics.heard(false);
  statistics.silenced(BOTH);
  const { roundTrip, polls, errors, arrivals, channels } = statistics.report(100);
  t.same(arrivals, { notifications: 2, keepAlives: 1, proofs: 1, rereads: 2 });
  t.equal(polls, 3, 'rereads, and a question for a sign of life');
  t.match(roundTrip, { sumMs: 5, maxMs: 3 });
  t.same(errors, { silent: 2, refused: 1, lost: 0, malformed: 0 }, 'a reread without an answer, and the silence; a notification with a Bad one');
  t.same(channels, [
    { lastGoodAgeMs: 20, good: 3, errors: { silent: 2, refused: 0, lost: 0, malformed: 0 } },
    { lastGoodAgeMs: null, good: 0, errors: { silent: 1, refused: 1, lost: 0, malformed: 0 } },
  ]);
});

t.test('ADR 0096: a proof keeps what was Good young, and nothing else', async (t) => {
  const statistics = new ModuleStatistics(2, 0);
  const arrived = statistics.follow();
  arrived.good(0, 50);
  arrived.good(1, 50);
  arrived.bad(1, 'refused');
  statistics.proven(BOTH, 900);
  t.match(statistics.report(1000).channels, [{ lastGoodAgeMs: 100 }, { lastGoodAgeMs: 950 }]);
});
