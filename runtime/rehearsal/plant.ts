/**
 * The plant side of a rehearsal (ADR 0006): the scan loops of all units and the simulation of all modules on one clock that
 * jumps from timer to timer. It is the code that runs the plant; only the clock, the port and the devices are its own.
 */
import { PhaseSet } from '../chart/phase-set.js';
import { SimulationGroup } from '../io/simulation/group.js';
import type { RehearsalAlarm, RehearsalMessage, RehearsalOutbound, RehearsalPlan, UnitInbound, UnitOutbound, UnitPlan } from '../port.js';
import { ScanClock } from '../scan/clock.js';
import { UnitLoop } from '../scan/loop.js';
import { AlarmBlocks } from './alarm-blocks.js';
import { PlantClock } from './plant-clock.js';

/** What the controller has to see before the plant goes on; the rest travels with it. */
const COUNTS: ReadonlySet<UnitOutbound['type']> = new Set([
  'phase',
  'command-result',
  'message',
  'prompt-cancelled',
  'request',
  'signal-raised',
  'signal-read',
  'alarm',
  'event',
] satisfies UnitOutbound['type'][]);
/** Nobody restarts a rehearsed unit or records it. */
const UNHEARD: ReadonlySet<UnitOutbound['type']> = new Set(['retained', 'overrides', 'recording'] satisfies UnitOutbound['type'][]);

export class RehearsalPlant {
  readonly #clock: PlantClock;
  readonly #units = new Map<string, RehearsedUnit>();
  readonly #problems: RehearsalOutbound['problems'][number][] = [];
  #messages: RehearsalMessage<UnitOutbound>[] = [];
  #alarms: RehearsalAlarm[] = [];
  #told = false;

  constructor({ units, modules, startWallMs }: RehearsalPlan) {
    this.#clock = new PlantClock(startWallMs);
    // the simulation sets its timer first: with equal periods inputs are there before the scan of the same instant
    new SimulationGroup({
      clock: this.#clock,
      random: () => 0,
      settings: () => ({ reconnectMinMs: 0, reconnectMaxMs: 0, readbackTimeoutMs: units[0]?.settings.readbackTimeoutMs ?? 0 }),
      report: (module, state, message) => {
        if (state === 'Failed') this.#problems.push({ module, message });
      },
      nextAttempt: () => undefined,
      resumed: () => undefined,
      holdEnded: () => undefined,
      fault: (module, fault) => this.#problems.push({ module, message: fault instanceof Error ? fault.message : String(fault) }),
    }).configure(modules, 1);
    for (const plan of units) this.#units.set(plan.unit, new RehearsedUnit(plan, this.#clock, (message) => this.#post(plan.unit, message), this.#alarmsOf));
  }

  /**
   * Goes on until something was said that counts, the time is reached, or `mayGoOn` says no: that one knows wall time, so it is
   * asked between two instants only, and how fast the machine is changes nothing of what happens.
   */
  advance(untilMs: number, messages: readonly RehearsalMessage<UnitInbound>[], mayGoOn: () => boolean): void {
    for (const { unit, message } of messages) this.#units.get(unit)?.inbox.push(message);
    this.#told = false;
    while (!this.#told && (this.#clock.isInstantOpen || mayGoOn()) && this.#clock.step(untilMs));
  }

  /** What there is to tell since the last time. */
  take(): RehearsalOutbound {
    const told = { plantMs: this.#clock.monoMs(), messages: this.#messages, alarms: this.#alarms, problems: this.#problems.splice(0) };
    this.#messages = [];
    this.#alarms = [];
    return told;
  }

  readonly #alarmsOf = (): RehearsalAlarm[] => this.#alarms;

  #post(unit: string, message: UnitOutbound): void {
    if (UNHEARD.has(message.type)) return;
    this.#messages.push({ unit, message });
    this.#told ||= COUNTS.has(message.type);
  }
}

/** One unit runtime without a thread: its loop, and the timer of its scans. */
class RehearsedUnit {
  readonly inbox: UnitInbound[] = [];
  readonly #loop: UnitLoop;
  readonly #clock: PlantClock;
  readonly #intervalMs: number;
  readonly #alarms: () => RehearsalAlarm[];
  readonly #blocks: AlarmBlocks;

  constructor(plan: UnitPlan, clock: PlantClock, post: (message: UnitOutbound) => void, alarms: () => RehearsalAlarm[]) {
    const monoMs = (): number => clock.monoMs();
    this.#clock = clock;
    this.#intervalMs = plan.scanIntervalMs;
    this.#alarms = alarms;
    this.#loop = new UnitLoop({
      receive: () => this.inbox.shift(),
      post,
      clock: new ScanClock({ monoMs }),
      monoMs,
      cold: true, // the scans that follow at once warm the functions up
      wallMs: () => clock.wallMs(),
      phases: (host, settings) => new PhaseSet(host, settings),
    });
    this.inbox.push({ type: 'plan', plan });
    this.#loop.receive();
    const { networks } = this.#loop;
    if (!networks) throw new Error('a unit has networks once its plan is loaded');
    this.#blocks = new AlarmBlocks(plan.unit, networks);
    this.#next();
  }

  #next(): void {
    this.#clock.after(this.#intervalMs, () => {
      this.#loop.receive();
      this.#loop.scan(1);
      this.#blocks.look(this.#clock.monoMs(), this.#alarms());
      this.#next();
    });
  }
}
