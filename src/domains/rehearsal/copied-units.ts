/** The unit runtimes as the controller of a rehearsal sees them: links whose messages wait until the plant goes on. */
import type { WallMs } from '../../platform/base/times.js';
import type { AlarmPlan, PhasePlan, RehearsalMessage, RehearsalPlan, TagPlan, UnitInbound, UnitOutbound, UnitPlan } from '../../../runtime/port.js';
import type { DeviceResetResult, ScanStatistics, TagReading, UnitLink, UnitRuntimes, WriteResult } from '../placement/runtimes.js';
import { TagView } from '../placement/tag-view.js';

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

class CopiedUnit implements UnitLink {
  readonly site: string;
  readonly unit: string;
  readonly epoch = 1;
  readonly ready = true;
  readonly message = '';
  readonly startedAtMs: WallMs;
  readonly realtime = { granted: false, reason: 'rehearsed' };
  readonly planRevision: number;
  readonly tags: readonly TagPlan[];
  readonly #view = new TagView();
  readonly send: (message: UnitInbound) => void;

  constructor(plan: UnitPlan, startedAtMs: WallMs, send: (message: UnitInbound) => void) {
    this.site = plan.site;
    this.unit = plan.unit;
    this.startedAtMs = startedAtMs;
    this.planRevision = plan.revision;
    this.tags = plan.tags;
    this.#view.adopt(plan);
    this.send = send;
  }

  /** What the link itself keeps of a message. */
  heard(message: UnitOutbound): void {
    if (message.type === 'text') this.#view.addText(message.id, message.text);
    if (message.type === 'texts-released') this.#view.releaseTexts(message.ids);
  }

  tagIndex(address: string): number {
    return this.#view.tagIndex(address);
  }

  refresh(): boolean {
    return this.#view.refresh();
  }

  reading(index: number): TagReading {
    return this.#view.reading(index);
  }

  statistics(): ScanStatistics {
    return this.#view.statistics();
  }

  networkScans(network: string): number {
    return this.#view.networkScans(network);
  }

  networkHash(network: string): string {
    return this.#view.networkHash(network);
  }

  alarmPlan(definition: string): AlarmPlan | undefined {
    return this.#view.alarmPlan(definition);
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
