/** Deterministic replay (ADR 0005): a recorded hour executes again bit for bit, and what differs is found and named. */
import t from 'tap';
import { Divergence, Player } from '../../../runtime/replay/player.js';
import { RecordingDamage, recordingParts } from '../../../runtime/replay/recording-reader.js';
import type { RecordingPart, RecordingStart, UnitInbound } from '../../../runtime/port.js';
import type { UnitState } from '../../../runtime/replay/unit-state.js';
import { FRAME_HEAD_BYTES, RECORDING_MAGIC } from '../../../runtime/vocabulary/recording-file.js';
import { encodeFrame, type StoredPart } from '../../../src/domains/units/recording-file.js';
import { BESIDE, HourUnit, randomOf } from './hour.js';
import { at } from '../../support/at.js';

const HOUR_SCANS = 36_000;
const FIRST = 777;

async function fileOf(parts: readonly RecordingPart[]): Promise<Buffer> {
  const frames = await Promise.all(parts.map((part) => encodeFrame(part as StoredPart)));
  return Buffer.concat([Buffer.from(RECORDING_MAGIC), ...frames.flat()]);
}

/** Turns bits of one byte over. */
function flip(bytes: Uint8Array, place: number, bits: number): void {
  bytes[place] = at(bytes, place) ^ bits;
}

function startOf(part: RecordingPart | undefined): RecordingStart {
  if (part?.kind !== 'start') throw new Error('a recording begins with its start');
  return part.start;
}

interface Looked {
  readonly S: Float64Array;
  readonly Q: Uint8Array;
}

/** Every port of some scans, looked at beside the checksums, which are what is tested. */
function look({ networks }: { readonly networks: HourUnit['loop']['networks'] }): Looked {
  if (!networks) throw new Error('no plan was loaded');
  return { S: networks.memory.S.slice(), Q: networks.memory.Q.slice() };
}

const unit = new HourUnit(4711);
const looks = new Map<number, Looked>();
let parts: readonly RecordingPart[] = [];
let file: Buffer = Buffer.alloc(0);

/** What people and the gateway do in this hour. */
function happenings(scan: number): void {
  if (looks.size * 500 + FIRST < scan) looks.set(scan - 1, look(unit.loop));
  if (scan % 2000 === 5) unit.write('tic2.sp', 30 + (scan % 37));
  if (scan === 4000) unit.send({ type: 'module-mode', module: 'tic1', mode: 'Manual' });
  if (scan === 4020) unit.write('tic1.out', 12.5);
  if (scan === 4900) unit.send({ type: 'module-mode', module: 'tic1', mode: 'Automatic' });
  if (scan === 6000) unit.send({ type: 'bypass', module: 'xv', active: true });
  if (scan % 3000 === 0) unit.command('Hold');
  if (scan % 1700 === 0) unit.command('Pause', 'beside');
  if (scan === 9000) unit.send({ type: 'phase-mode', phase: 'beside', mode: 'Semi-Automatic' });
  if (scan === 12_000) unit.send({ type: 'drop-phase', phase: 'beside' }, { type: 'phase', phase: BESIDE });
  if (scan === 12_001) unit.command('Start', 'beside');
  if (scan === 18_000) unit.swap(2);
  if (scan === 20_000) unit.send({ type: 'time-scale', timeScale: 4 });
  if (scan % 1111 === 0) unit.send({ type: 'inspect', id: scan, what: 'network', name: 'energy' }, { type: 'inspect', id: scan, what: 'phase', name: 'heat' });
}

t.test('ADR 0005: an hour of a unit is recorded from the middle of its work', async (t) => {
  unit.runTo(400);
  unit.swap(1);
  unit.runTo(FIRST - 1);
  // the recording begins while this download waits, and a write behind it
  unit.swap(1);
  unit.write('tic2.sp', 31);
  unit.send({ type: 'record', recording: 'r', durationMaxMs: 10 ** 9, bytesMax: 2 ** 26 });
  unit.runTo(FIRST - 1 + HOUR_SCANS, happenings);
  unit.send({ type: 'record-stop', recording: 'r' });
  unit.loop.receive();
  parts = unit.parts;
  t.equal(at(parts, 0).kind, 'start');
  t.match(parts.at(-1), { kind: 'end', ending: 'stopped', scan: FIRST - 1 + HOUR_SCANS });
  file = await fileOf(parts);
  t.comment(`${HOUR_SCANS} scans of 9 channels: ${parts.reduce((sum, part) => sum + (part.kind === 'scans' ? part.bytes.length : 0), 0)} bytes of inputs, ${file.length} on disk`);

  t.match((startOf(at(parts, 0)).state as UnitState).phases, { phases: [{ state: 'Running', running: { started: true } }, { plan: { name: 'beside' } }] });
  const happened = new Set(unit.sent.map((message) => (message.type === 'phase' ? `phase ${message.state}` : message.type)));
  for (const what of ['phase Running', 'phase Held', 'request', 'command-result', 'write-result', 'plan-loaded', 'network', 'retained', 'message', 'shadow-trip', 'alarm-edge']) {
    t.ok(happened.has(what), `the hour has seen: ${what}`);
  }
  t.ok(
    (startOf(at(parts, 0)).state as UnitState).texts.texts.some(([, text]) => text.startsWith('lot ')),
    'texts of channels are part of the state',
  );
});

t.test('ADR 0005: its replay has the same value in every port at every checksum, and the same state at the end', async (t) => {
  const [first, ...rest] = recordingParts(file);
  const player = new Player(startOf(first));
  let compared = 0;
  let networks = player.loop.networks;
  let swaps = 0;
  for (const part of rest) {
    player.play(part, () => {
      const live = looks.get(player.scan);
      if (player.loop.networks !== networks) swaps += 1;
      networks = player.loop.networks;
      if (!live) return;
      compared += 1;
      t.strictSame(look(player.loop), live, `every port of scan ${player.scan}`);
    });
  }
  t.equal(player.scan, FIRST - 1 + HOUR_SCANS);
  t.equal(player.checksums, HOUR_SCANS / 10, 'every checksum was met');
  t.ok(player.ended, 'the state at the end was compared: blocks, phases, tags, modes');
  t.ok(compared > 60);
  t.equal(swaps, 2, 'the hot swaps happened in the replay too');
});

t.test('ADR 0005: one flipped bit of the file is found, and its frame named', async (t) => {
  const random = randomOf(7);
  const play = (bytes: Uint8Array): unknown => {
    try {
      const [first, ...rest] = recordingParts(bytes);
      return { first, rest };
    } catch (fault) {
      return fault;
    }
  };
  for (let round = 0; round < 40; round += 1) {
    const bit = Math.floor(random() * 8 * (file.length - 8)) + 64;
    const bytes = Uint8Array.from(file);
    flip(bytes, bit >> 3, 1 << (bit & 7));
    const found = play(bytes);
    if (!(found instanceof RecordingDamage)) t.fail(`bit ${bit} went unnoticed`);
    else if (!found.message.includes('frame')) t.fail(found.message);
  }
  const bytes = Uint8Array.from(file);
  flip(bytes, 8 + FRAME_HEAD_BYTES + 100, 4);
  t.match(play(bytes), { message: /^frame 1 at byte 8 \(start, scan 776\) is damaged: its CRC differs$/, first: FIRST - 1 });
  flip(bytes, 12, 4);
  t.match(play(bytes), { message: /^the head of frame 1 at byte 8, after scan 0, is damaged: its CRC differs$/ }, 'a damaged length is no short file');
});

/** The recording played until it differs. */
function divergenceOf(changed: readonly RecordingPart[]): Divergence | undefined {
  const [first, ...rest] = structuredClone(changed) as RecordingPart[];
  const player = new Player(startOf(first));
  try {
    for (const part of rest) player.play(part);
  } catch (fault) {
    if (fault instanceof Divergence) return fault;
    throw fault;
  }
  return undefined;
}

t.test('ADR 0005: one flipped bit of an input, a message or the state is found by the next checksum, and its scan named', async (t) => {
  const scans = parts.findIndex((part) => part.kind === 'scans' && part.first > 900);
  const frame = at(parts, scans);
  if (frame.kind !== 'scans') throw new Error('scans are recorded');
  let found = 0;
  for (let at = 0; at < 200; at += 3) {
    const bytes = Uint8Array.from(frame.bytes);
    flip(bytes, at, 0x40);
    const divergence = divergenceOf([...parts.slice(0, scans), { ...frame, bytes }, ...parts.slice(scans + 1, scans + 8)]);
    if (divergence) {
      found += 1;
      t.ok(divergence.scan >= frame.first, `byte ${at}: ${divergence.message}`);
    }
  }
  t.ok(found > 10, `${found} of 67 flips reach a port; the others are times of samples and live signs`);

  const start = startOf(at(parts, 0));
  const state = structuredClone(start.state) as UnitState;
  state.networks.X[20] = at(state.networks.X, 20) + 2 ** -30; // in the delay line of a loop: it comes out within 3 s
  const late = divergenceOf([{ kind: 'start', start: { ...start, state } }, ...parts.slice(1, 20)]);
  t.ok(late && late.scan <= start.scan + 40, late?.message ?? 'not found');
  t.match(late?.message, /^scan \d+: the ports differ from the recorded ones; they were the same until scan \d+$/);

  const message = parts.findIndex((part) => part.kind === 'message' && part.message.type === 'write');
  const written = at(parts, message);
  if (written.kind !== 'message' || written.message.type !== 'write') throw new Error('a write is recorded');
  const other = { ...written, message: { ...written.message, value: Number(written.message.value) + 1e-9 } };
  const divergence = divergenceOf([...parts.slice(0, message), other, ...parts.slice(message + 1)]);
  t.ok(divergence && divergence.scan >= written.scan && divergence.scan < written.scan + 10, divergence?.message ?? 'not found');
});

t.test('ADR 0005: a recording may begin and end at any moment of a batch', async (t) => {
  const other = new HourUnit(815);
  const random = randomOf(99);
  const moments = new Set<string>();
  for (let n = 0; n < 100; n += 1) {
    other.runTo(other.scan + Math.floor(random() * 60), (scan) => {
      if (scan % 97 === 0) other.command(random() < 0.5 ? 'Hold' : 'Pause', random() < 0.5 ? 'heat' : 'beside');
      if (scan % 1009 === 0) other.swap(1 + (n % 2));
    });
    other.parts.length = 0;
    other.write('tic2.sp', 20 + n); // stands before the recording in the same scan
    other.send({ type: 'record', recording: `r${n}`, durationMaxMs: 10 ** 9, bytesMax: 2 ** 26 });
    other.command('Hold', n % 7 === 0 ? 'heat' : 'none');
    other.runTo(other.scan + 1 + Math.floor(random() * 45));
    other.send({ type: 'record-stop', recording: `r${n}` });
    other.loop.receive();
    const { phases } = startOf(at(other.parts, 0)).state as UnitState;
    for (const { state, running } of phases.phases) for (const { active, actionState } of running.steps) moments.add(active ? `${state} ${actionState}` : state);
    if (phases.requests.length > 0) moments.add('request');
    const divergence = divergenceOf(other.parts);
    if (divergence) t.fail(`recording ${n}: ${divergence.message}`);
  }
  for (const moment of ['Running suspended', 'Running finished', 'Held suspended', 'Paused suspended', 'request']) t.ok(moments.has(moment), `one began in: ${moment}`);
  t.comment([...moments].sort().join(', '));
});

t.test('ADR 0005, ADR 0007: active steps that a person changes are recorded, and change the replay at the same scan', async (t) => {
  const steered = new HourUnit(23);
  steered.runTo(10);
  steered.send({ type: 'phase-mode', phase: 'heat', mode: 'Manual' });
  steered.runTo(30);
  steered.parts.length = 0;
  steered.send({ type: 'record', recording: 'r', durationMaxMs: 10 ** 9, bytesMax: 2 ** 26 });
  const changes: Readonly<Record<number, UnitInbound>> = {
    60: { type: 'active-step', phase: 'heat', change: { change: 'activate', step: 'rest', leave: ['begin'] } },
    75: { type: 'active-step', phase: 'heat', change: { change: 'activate', step: 'begin', leave: [] } },
    76: { type: 'active-step', phase: 'heat', change: { change: 'activate', step: 'nowhere', leave: [] } },
    90: { type: 'active-step', phase: 'heat', change: { change: 'deactivate', step: 'rest' } },
    110: { type: 'active-step', phase: 'heat', change: { change: 'force', transition: 'begin->ask#0' } },
    140: { type: 'phase-mode', phase: 'heat', mode: 'Automatic' },
  };
  const stood = new Set<string>();
  steered.runTo(600, (scan) => {
    if (changes[scan]) steered.send(changes[scan]);
  });
  for (const message of steered.sent) if (message.type === 'phase') stood.add(`${message.phase} ${message.sfc.activeSteps.join(' ')}`);
  for (const steps of ['heat rest', 'heat begin rest', 'heat begin', 'heat ask']) t.ok(stood.has(steps), `it stood in: ${steps}`);
  steered.send({ type: 'record-stop', recording: 'r' });
  steered.loop.receive();

  const [first, ...rest] = recordingParts(await fileOf(steered.parts));
  const player = new Player(startOf(first));
  for (const part of rest) player.play(part);
  t.ok(player.ended && player.scan === 600 && player.checksums >= 57, 'the same in every port and step, at every checksum and at the end');
  for (const [index, part] of steered.parts.entries()) {
    if (part.kind !== 'message' || part.message.type !== 'active-step') continue;
    const { change } = part.message;
    const without = divergenceOf([...steered.parts.slice(0, index), ...steered.parts.slice(index + 1)]);
    if (change.change === 'activate' && change.step === 'nowhere') t.notOk(without, 'a change that was refused changes nothing');
    else t.ok(without && without.scan >= part.scan, `without ${JSON.stringify(change)}: ${without?.message}`);
  }
});

t.test('ADR 0005: a recording that was cut off replays to its last whole frame; one of another layout is refused', async (t) => {
  const cut = [...recordingParts(file.subarray(0, file.length - 300))];
  t.not(cut.at(-1)?.kind, 'end');
  t.equal(divergenceOf(cut), undefined);
  const start = startOf(at(parts, 0));
  const fewer = { ...start.plan, networks: start.plan.networks.slice(1) };
  t.throws(() => new Player({ ...start, plan: fewer }), /another version of the product/);
  t.throws(() => new Player({ ...start, form: 99 }), /form 99/);
  t.throws(() => [...recordingParts(Buffer.from('not a recording'))], /no recording/);
});
