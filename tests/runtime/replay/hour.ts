/**
 * A unit whose every input is drawn from a seed: PID loops on noisy channels, timers, counters, a delay line, a block that
 * faults, a text channel, programs of several intervals, a phase that prompts, waits and asks. What happens at which scan
 * is in one table, so that an hour of it is the same hour each time.
 */
import { PhaseSet } from '../../../runtime/chart/phase-set.js';
import type { PhasePlan, RecordingPart, UnitInbound, UnitOutbound, UnitPlan } from '../../../runtime/port.js';
import { ScanClock } from '../../../runtime/scan/clock.js';
import { UnitLoop } from '../../../runtime/scan/loop.js';
import { CONNECTION, IMAGE_HEADER, ProcessImage, WRITE_STATUS } from '../../../runtime/vocabulary/process-image.js';
import type { Command } from '../../../runtime/vocabulary/states.js';
import { basicPlan } from '../chart/plant.js';
import { image, network, SETTINGS, tags, unitPlan, wires } from '../network/plans.js';
import { at } from '../../support/at.js';

export const SCAN_MS = 100;
const CHANNELS = ['t1 input', 't2 input', 'flow input', 'zero input', 'name input string', 'door input bool', 'v1 output', 'v2 output', 'heater output bool'];

/** Mulberry32: small, and the same on every machine. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function loopNetwork(name: string, input: number, output: number) {
  return network({
    name,
    shape: 'template/loop',
    blocks: [
      { name: 'ai', type: 'AI', params: { addr: '', rawMin: 4, rawMax: 20, engMin: 0, engMax: 100, filter: 'T#2s', faultLow: 3.6 } },
      { name: 'dead', type: 'DEADTIME', params: { delay: 'T#3s' } },
      { name: 'pid', type: 'PID', params: { SP: 40, kp: 1.7, ti: 'T#20s', td: 'T#2s' } },
      { name: 'ao', type: 'AO', params: { addr: '', rate: 20 } },
      { name: 'high', type: 'ALM_ANALOG', params: {} },
    ],
    connections: wires('ai.OUT > dead.IN', 'dead.OUT > pid.PV', 'pid.OUT > ao.IN', 'ai.OUT > high.IN'),
    channels: [
      { block: 'ai', image: 0, channel: input },
      { block: 'ao', image: 0, channel: output },
    ],
  });
}

const VALVE = network({
  name: 'xv',
  blocks: [
    { name: 'di', type: 'DI', params: { addr: '' } },
    { name: 'late', type: 'TON', params: { PT: 'T#4s' } },
    { name: 'after', type: 'TOF', params: { PT: 'T#7s' } },
    { name: 'doors', type: 'CTU', params: { PV: 9 } },
    { name: 'ilk', type: 'INTERLOCK', params: { text1: 'door open', latch: false } },
    { name: 'v', type: 'VALVE', params: { hasFbo: false, hasFbc: false, openTime: 'T#3s' } },
    { name: 'heater', type: 'DO', params: { addr: '' } },
  ],
  connections: wires('di.OUT > late.IN', 'di.OUT > after.IN', 'di.OUT > doors.CU', 'late.Q > ilk.IN1', 'after.Q > v.CMD', 'ilk.TRIPPED > v.ILOCK', 'v.OPENED > heater.IN'),
  channels: [
    { block: 'di', image: 0, channel: 5 },
    { block: 'heater', image: 0, channel: 8 },
  ],
});

const TAGS = [
  ...tags(
    'tic1.pv ai.OUT REAL',
    'tic1.sp pid.SP REAL w',
    'tic1.out ao.OUT REAL w',
    'tic2.pv ai.OUT REAL',
    'tic2.sp pid.SP REAL w',
    'xv.state v.STATE STRING',
    'xv.doors doors.CV INT',
  ),
  { ...at(tags('xv.cmd v.OUT BOOL'), 0), cyclic: false },
];

function program(edited: boolean) {
  return network({
    name: 'energy',
    owner: 'program',
    scanIntervalMs: 500,
    hash: edited ? 'h2' : 'h1',
    variables: [{ name: 'flow', dataType: 'REAL', direction: 'input' }],
    variableBindings: [{ variable: 'flow', blockRef: 'tot', portRef: 'IN' }],
    inputs: [{ variable: 'flow', tag: 0 }],
    blocks: [
      { name: 'tot', type: 'TOTALIZER', params: { timeBase: 'h' } },
      { name: 'div', type: 'DIV', params: { IN1: 100 } },
      { name: 'blink', type: 'BLINK', params: {} },
      { name: 'count', type: 'CTU', params: { PV: 1000 } },
      { name: 'mean', type: 'MAVG', params: { window: 'T#30s' } },
      ...(edited
        ? [
            { name: 'sine', type: 'SIN', params: {} },
            { name: 'lead', type: 'LEADLAG', params: { lead: 'T#5s' } },
          ]
        : []),
    ],
    connections: wires('blink.Q > count.CU', 'tot.OUT > div.IN2', 'div.OUT > mean.IN', ...(edited ? ['mean.OUT > sine.IN', 'sine.OUT > lead.IN'] : [])),
  });
}

/** Divides by a channel that is sometimes zero: the block faults, and recovers. */
const FAULTY = network({
  name: 'ratio',
  owner: 'program',
  scanIntervalMs: 200,
  blocks: [
    { name: 'ai', type: 'AI', params: { addr: '' } },
    { name: 'div', type: 'DIV', params: { IN1: 1 } },
  ],
  connections: wires('ai.OUT > div.IN2'),
  channels: [{ block: 'ai', image: 0, channel: 3 }],
});

export function hourPlan(revision: number, io: UnitPlan['images']): UnitPlan {
  return unitPlan({
    revision,
    tags: TAGS,
    images: io,
    networks: [loopNetwork('tic1', 0, 6), loopNetwork('tic2', 1, 7), VALVE, program(revision > 1), FAULTY],
    alarms: [{ definition: 'tic1-away', address: 'tic1.pv', tag: 0, condition: 'TagDeviation', setpoint: 50, threshold: 5, deadband: 1, debounceMs: 500 }],
    settings: { ...SETTINGS, ioLostHoldDelayMs: 4000 },
  });
}

/** Time for a hot swap behind a scan: so little that it takes many of them, in which texts and states come and go. */
const PREPARE_MS = 0.3;

/** Works, asks and begins again: a run takes some minutes. */
export const PHASE: PhasePlan = basicPlan(
  'heat',
  {
    steps: [
      { name: 'begin', initial: true, actionST: "WRITE('tic1.sp', 55.0 + n);\nn := n + 1;\nsum := sum + READ('tic1.pv');" },
      { name: 'ask', actionST: "ph := PROMPT_VALUE('pH', 0.0, 14.0, 'pH');\nMESSAGE('took ' + ph);" },
      { name: 'rest', actionST: 'WAIT(T#12s);\nsum := sum * 1.000001;' },
      { name: 'lab', actionST: "x := CALL_SERVICE('opc', 'o', 'm', n);" },
      { name: 'watch', actionST: 'i := 0;\nWHILE i < 50 DO\n  i := i + 1;\n  sum := sum + ABS(i * 0.1 - 2.0) / 3.0;\nEND_WHILE;' },
    ],
    transitions: [
      { from: 'begin', to: 'ask', conditionST: "begin.T >= T#2s AND READ('tic1.pv') > -1000.0" },
      { from: 'ask', to: 'rest', conditionST: 'ph >= 0.0' },
      { from: 'rest', to: 'lab', conditionST: "rest.T >= T#15s OR READ('xv.doors') > 100000" },
      { from: 'lab', to: 'watch', conditionST: 'TRUE' },
      { from: 'watch', to: 'begin', conditionST: "watch.T >= T#9s AND READ('xv.state') <> 'Never'" },
    ],
  } as PhasePlan['running'],
  {
    variables: [
      { name: 'n', type: 'INT', initial: '0' },
      { name: 'i', type: 'INT', initial: '0' },
      { name: 'sum', type: 'REAL', initial: '0' },
      { name: 'ph', type: 'REAL' },
    ],
    outputs: [],
    roles: { temp: 'tic1' },
    ioModules: ['io'],
    knownSignals: ['ready'],
    charts: { holding: { steps: [{ name: 'safe', initial: true, actionST: "WRITE('tic1.sp', 20.0);" }], transitions: [] } },
  },
);

/** Begins anew whenever it has ended: branches side by side, calls in conditions, steps that time out, signals. */
export const BESIDE: PhasePlan = basicPlan(
  'beside',
  {
    steps: [
      { name: 'fork', initial: true },
      { name: 'left', actionST: 'WAIT(T#3s);\nleft := left * 1.0001;' },
      { name: 'right', actionST: "c := PROMPT_CHOICE('Which', 'A', 'B');", timeoutSeconds: 8, onTimeout: 'Alarm' },
      { name: 'join', actionST: "WRITE('tic2.sp', 35.0 + left / 1000.0);" },
    ],
    transitions: [
      { from: 'fork', to: 'both', conditionST: "MTP_STATE('opc/dose') <> 'Aborted' AND READ('signal:ready')" },
      { from: 'end', to: 'join', conditionST: "MESSAGE('joined') AND c <> ''" },
    ],
    divergences: [
      { name: 'both', type: 'SimultaneousDiverge', branches: ['left', 'right'] },
      { name: 'end', type: 'SimultaneousConverge', branches: ['left', 'right'] },
    ],
  } as PhasePlan['running'],
  {
    variables: [
      { name: 'left', type: 'REAL', initial: '1' },
      { name: 'c', type: 'STRING' },
    ],
    knownSignals: ['ready'],
    signals: [{ name: 'half', condition: 'left > 2.0' }],
  },
);

/** A part without the rest of its buffer: an hour of buffers of 64 KiB for some hundred bytes each are 250 MB. */
function kept(part: RecordingPart): RecordingPart {
  return part.kind === 'scans' ? { ...part, bytes: part.bytes.slice() } : part;
}

/** The live unit: the real loop, its image written by a seeded plant, its clocks by hand. */
export class HourUnit {
  readonly sent: UnitOutbound[] = [];
  /** Parts of recordings as they come out of the message port. */
  readonly parts: RecordingPart[] = [];
  readonly loop: UnitLoop;
  scan = 0;
  readonly #random: () => number;
  readonly #io: UnitPlan['images'] = [image('io', ...CHANNELS)];
  readonly #image = new ProcessImage(CHANNELS.length, at(this.#io, 0).buffer);
  readonly #inbox: UnitInbound[] = [];
  #monoMs = 0.25;
  #wallMs = 1_790_000_000_000;
  #ids = 0;
  #level = [8, 9];

  constructor(seed: number) {
    this.#random = randomOf(seed);
    const monoMs = (): number => this.#monoMs;
    this.loop = new UnitLoop({
      receive: () => this.#inbox.shift(),
      post: (message, transfer) => this.#take(message, transfer),
      clock: new ScanClock({ monoMs }),
      // Time goes on within a scan; what a scan calculates must not.
      monoMs: () => {
        this.#monoMs += 0.013;
        return this.#monoMs;
      },
      wallMs: () => Math.floor(this.#wallMs + (this.#monoMs % 1)),
      phases: (host, settings) => new PhaseSet(host, settings),
    });
    this.send(
      { type: 'plan', plan: hourPlan(1, this.#io) },
      { type: 'phase', phase: PHASE },
      { type: 'phase', phase: BESIDE },
      { type: 'signals', scope: 'batch-1', raised: ['ready'] },
      { type: 'alarm-gates', gates: [{ definition: 'tic1-away', armed: true, active: false, evaluable: true }] },
    );
    this.command('Start');
    this.command('Start', 'beside');
  }

  #take(message: UnitOutbound, transfer: readonly ArrayBuffer[] = []): void {
    if (message.type === 'recording') this.parts.push(kept(structuredClone(message.part, { transfer: [...transfer] })));
    else if (message.type === 'phase') this.#answer(message);
    else if (message.type === 'request') this.#requests.set(message.id, this.scan + 20 + Math.floor(this.#random() * 60));
    if (message.type !== 'recording' && message.type !== 'text') this.sent.push(message);
  }

  /** The operator: answers some seconds after he was asked, because nobody looks at once, and restarts what was held. */
  #answer({ phase, prompt, state }: Extract<UnitOutbound, { type: 'phase' }>): void {
    const next = { Held: 'Restart', Paused: 'Resume', Complete: 'Reset', Idle: 'Start' }[state as string] as Command | undefined;
    if (next) this.#commands.set(phase, { command: next, atScan: this.scan + 40 });
    if (prompt) this.#prompts.set(prompt.id, { phase, kind: prompt.kind, atScan: this.scan + 30 + Math.floor(this.#random() * 100) });
  }

  readonly #commands = new Map<string, { readonly command: Command; readonly atScan: number }>();
  readonly #requests = new Map<number, number>();
  readonly #prompts = new Map<string, { readonly phase: string; readonly kind: string; readonly atScan: number }>();

  send(...messages: readonly UnitInbound[]): void {
    this.#inbox.push(...messages);
  }

  command(command: Command, phase = 'heat'): void {
    this.#ids += 1;
    this.send({ type: 'command', id: this.#ids, phase, command });
  }

  swap(revision: number): void {
    this.send({ type: 'plan', plan: hourPlan(revision, this.#io) });
  }

  write(address: string, value: number | boolean): void {
    this.#ids += 1;
    this.send({ type: 'write', id: this.#ids, address, value });
  }

  /** Scans up to the given number; `before` may send what happens then. */
  runTo(last: number, before: (scan: number) => void = () => undefined): void {
    while (this.scan < last) {
      const elapsed = this.#random() < 0.002 ? 2 + Math.floor(this.#random() * 14) : 1;
      this.#monoMs += elapsed * SCAN_MS + this.#random();
      this.#wallMs += elapsed * SCAN_MS + (this.#random() < 0.0005 ? -250 : 0);
      this.scan += 1;
      before(this.scan);
      this.#people();
      this.#plant();
      this.loop.receiveReady();
      this.loop.scan(elapsed);
      this.loop.prepare(PREPARE_MS);
    }
  }

  /** What was to be answered, ended or begun anew by now. */
  #people(): void {
    for (const [waitId, { phase, kind, atScan }] of this.#prompts) {
      if (this.scan < atScan) continue;
      this.#prompts.delete(waitId);
      this.send({ type: 'answer', phase, waitId, value: kind === 'choice' ? 'B' : Math.round(this.#random() * 140) / 10 });
    }
    for (const [id, atScan] of this.#requests) {
      if (this.scan < atScan) continue;
      this.#requests.delete(id);
      this.send({ type: 'request-result', id, ok: this.#random() > 0.1, value: this.#random() });
    }
    for (const [phase, { command, atScan }] of this.#commands) {
      if (this.scan < atScan) continue;
      this.#commands.delete(phase);
      this.command(command, phase);
    }
  }

  /** Inputs of this scan: samples now and then, a connection that is lost for a while, answers to outputs. */
  #plant(): void {
    const random = this.#random;
    const io = this.#image;
    const lost = this.scan % 9000 > 8900;
    Atomics.store(io.header, IMAGE_HEADER.connection, lost ? CONNECTION.lost : CONNECTION.connected);
    if (!lost && random() < 0.4) {
      io.beginInputs();
      [0, 1].forEach((channel) => {
        this.#level[channel] = at(this.#level, channel) + (at(io.out, 6 + channel) - 40) * 0.0005 + (random() - 0.5) * 0.1;
        io.value[channel] = Math.min(20, Math.max(4, at(this.#level, channel)));
      });
      io.value[2] = random() * 10;
      io.value[3] = random() < 0.05 ? 0 : random() < 0.02 ? Number.NaN : random();
      io.value[5] = random() < 0.02 ? 1 - at(io.value, 5) : at(io.value, 5);
      io.quality.fill(0, 0, 6);
      io.quality[Math.floor(random() * 6)] = random() < 0.03 ? 3 : 0;
      const agoMs = random() * 50;
      for (let channel = 0; channel < 6; channel += 1) io.stamp(channel, Math.floor(this.#wallMs - agoMs), this.#monoMs - agoMs);
      if (random() < 0.05) io.setText(4, new TextEncoder().encode(`lot ${Math.floor(random() * 40)}`));
      io.endInputs();
    }
    for (const channel of [6, 7, 8]) {
      if (random() > 0.5) continue;
      io.outStatus[channel] = random() < 0.01 ? WRITE_STATUS.mismatch : WRITE_STATUS.done;
      io.readback[channel] = at(io.out, channel);
      Atomics.store(io.outDone, channel, Atomics.load(io.outSeq, channel));
    }
  }
}
