/**
 * What throws in the turn of a unit is that unit's fault: it ends, its outputs are written to their fail-safe values by its
 * probe, and the units of the same thread go on with their scans (ADR 0012).
 */
import t from 'tap';
import { PhaseSet } from '../../../runtime/chart/phase-set.js';
import type { ScanThreadInbound, ScanThreadOutbound, UnitInbound, UnitPlan } from '../../../runtime/port.js';
import { ScanHost } from '../../../runtime/scan/host.js';
import { STAT, TagTable } from '../../../runtime/vocabulary/tag-table.js';
import { image, network, SETTINGS, tags, unitPlan } from '../network/plans.js';

const BUG = 'a bug of ours';
const bug = (): never => {
  throw new Error(BUG);
};

/** Where the broken unit is broken from 1000 ms on; nowhere by itself. */
interface Broken {
  readonly plan?: UnitPlan;
  readonly message?: UnitInbound;
  readonly inScan?: () => void;
  /** What the unit tells runs into it. */
  readonly inPost?: (message: ScanThreadOutbound) => void;
  /** A recording of the broken unit is under way. */
  readonly isRecorded?: true;
}

const counted = (unit: string, part: Partial<UnitPlan> = {}): UnitPlan =>
  unitPlan({
    unit,
    settings: { ...SETTINGS },
    tags: tags('n.out b.OUT REAL', 'n.in b.IN1 REAL w'),
    networks: [network({ name: 'n', blocks: [{ name: 'b', type: 'ADD' }] })],
    ...part,
  });

/** A thread with two units on one clock; what happened until 3000 ms. */
function runBeside({ plan, message, inScan, inPost, isRecorded }: Broken) {
  const [broken, beside] = [counted('broken'), counted('beside')];
  const inbox: ScanThreadInbound[] = [];
  const told: ScanThreadOutbound[] = [];
  let nowMs = 0;
  let isBroken = false;
  const tell = (runtime: number, sent: UnitInbound): void => void inbox.push({ type: 'unit', runtime, message: sent });
  const events: { readonly atMs: number; readonly call: () => void }[] = [
    { atMs: 1000, call: () => (isBroken = true) },
    { atMs: 1000, call: () => plan && tell(1, { type: 'plan', plan }) },
    { atMs: 1000, call: () => message && tell(1, message) },
    { atMs: 3000, call: () => void inbox.push({ type: 'close' }) },
  ];
  [broken, beside].forEach((first, n) => {
    inbox.push({ type: 'host', runtime: n + 1 });
    tell(n + 1, { type: 'plan', plan: first });
  });
  if (isRecorded) tell(1, { type: 'record', recording: 'r', durationMaxMs: 60_000, bytesMax: 1_000_000 });
  new ScanHost({
    receive: () => inbox.shift(),
    post: (sent) => {
      if (isBroken && sent.type === 'unit' && sent.runtime === 1) inPost?.(sent);
      told.push(sent);
    },
    monoMs: () => (nowMs += 0.5),
    wallMs: () => nowMs,
    round: () => {
      for (const event of events.filter(({ atMs }) => atMs <= nowMs)) events.splice(events.indexOf(event), 1)[0]?.call();
    },
    sleep: (ms) => (nowMs += Math.min(ms, 50)),
    turnOf: () => {},
    phases: (host, settings) => {
      class Charts extends PhaseSet {
        override scan(dtMs: number): void {
          if (isBroken && settings === broken.settings) inScan?.();
          super.scan(dtMs);
        }
      }
      return new Charts(host, settings);
    },
  }).run();
  const table = new TagTable(beside.tags.length, beside.table);
  return { scansBeside: table.stats[STAT.scanCount], missedBeside: table.stats[STAT.missed], ended: told.filter(({ type }) => type === 'ended') };
}

const SEAMS: Readonly<Record<string, Broken>> = {
  'the scan of its charts': { inScan: bug },
  'the load of a plan whose table is too short': { plan: counted('broken', { table: new SharedArrayBuffer(8) }) },
  'a plan whose tag names a channel that its image does not have': {
    plan: counted('broken', {
      images: [image('io', 'level input', 'flow input'), image('other', 'speed input')],
      tags: [{ address: 'n.raw', network: 'n', name: 'raw', type: 'REAL', writable: false, cyclic: true, binding: { kind: 'channel', image: 0, channel: 2 } }],
    }),
  },
  'a message that cannot be answered': { message: { type: 'inspect', id: 1, what: 'network', name: 'n' }, inPost: bug },
  'a scan that is recorded, and in the end of its recording': { inScan: bug, isRecorded: true, inPost: bug },
};

for (const [name, broken] of Object.entries(SEAMS)) {
  t.test(`a bug of ours in ${name} ends that unit alone; the one beside it misses no scan`, async (t) => {
    const { ended, scansBeside, missedBeside } = runBeside(broken);
    t.match(ended, [{ type: 'ended', runtime: 1, fault: /a bug of ours|assertion failed: |Invalid typed array length/ }], 'told once, with what it was');
    t.equal(missedBeside, 0);
    t.ok((scansBeside ?? 0) > 25, `${scansBeside} scans in three seconds, the first of them after its download`);
  });
}
