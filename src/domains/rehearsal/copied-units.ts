/** The unit runtimes as the controller of a rehearsal sees them: links whose messages wait until the plant goes on. */
import type { WallMs } from '../../platform/base/times.js';
import type { PhasePlan, RehearsalMessage, RehearsalPlan, UnitInbound, UnitOutbound, UnitPlan } from '../../../runtime/port.js';
import type { DeviceResetResult, UnitLink, UnitRuntimes, WriteResult } from '../placement/runtimes.js';
import { ViewedUnit } from '../placement/viewed-unit.js';

export class CopiedUnits implements UnitRuntimes {
  readonly #links: ReadonlyMap<string, CopiedUnit>;
  #outbox: RehearsalMessage<UnitInbound>[] = [];

  constructor({ units, startWallMs }: RehearsalPlan) {
    const send = (unit: string, message: UnitInbound): unknown => this.#outbox.push({ unit, message });
    this.#links = new Map(units.map((plan) => [plan.unit, new CopiedUnit(plan, startWallMs, (message) => send(plan.unit, message))]));
  }

  link(_site: string, unit: string): CopiedUnit | undefined {
    return this.#links.get(unit);
  }

  links(): readonly UnitLink[] {
    return [...this.#links.values()];
  }

  /** What the plant is to be told when it goes on. */
  takeOutbox(): readonly RehearsalMessage<UnitInbound>[] {
    const outbox = this.#outbox;
    this.#outbox = [];
    return outbox;
  }

  /** The rehearsal hands messages on itself, and its units neither come nor go. */
  onMessage(): void {}
  onChange(): void {}
}

class CopiedUnit extends ViewedUnit implements UnitLink {
  readonly site: string;
  readonly unit: string;
  readonly epoch = 1;
  readonly ready = true;
  readonly message = '';
  readonly startedAtMs: WallMs;
  readonly startedMonoMs = 0; // it is never started again
  readonly realtime = { granted: false, reason: 'rehearsed' };
  readonly timeScale: number;
  readonly send: (message: UnitInbound) => void;

  constructor(plan: UnitPlan, startedAtMs: WallMs, send: (message: UnitInbound) => void) {
    super();
    this.site = plan.site;
    this.unit = plan.unit;
    this.startedAtMs = startedAtMs;
    this.timeScale = plan.timeScale;
    this.view.adopt(plan);
    this.send = send;
  }

  /** What the link itself keeps of a message. */
  heard(message: UnitOutbound): void {
    if (message.type === 'text') this.view.addText(message.id, message.text);
    if (message.type === 'texts-released') this.view.releaseTexts(message.ids);
  }

  loadPhase(phase: PhasePlan): void {
    this.send({ type: 'phase', phase });
  }

  /** Only people write tags and look into networks; a rehearsal has none. */
  async write(): Promise<WriteResult> {
    return { ok: false, code: 'runtime_unreachable', message: 'a rehearsal takes no writes' };
  }

  async resetDevices(): Promise<DeviceResetResult> {
    return { ok: false, message: 'a rehearsal resets nothing', blocks: [] };
  }

  async inspect(): Promise<unknown> {
    return undefined;
  }
}
