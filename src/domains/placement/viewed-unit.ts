/** What every link answers from the tag table of its unit, wherever the unit is scanned. */
import type { AlarmPlan, TagPlan } from '../../../runtime/port.js';
import type { ScanStatistics, TagReading } from './runtimes.js';
import { TagView } from './tag-view.js';

export abstract class ViewedUnit {
  /** Of the loaded plan. */
  protected readonly view = new TagView();

  get planRevision(): number {
    return this.view.revision;
  }

  get tags(): readonly TagPlan[] {
    return this.view.tags;
  }

  tagIndex(address: string): number {
    return this.view.tagIndex(address);
  }

  refresh(): boolean {
    return this.view.refresh();
  }

  reading(index: number): TagReading {
    return this.view.reading(index);
  }

  statistics(): ScanStatistics {
    return this.view.statistics();
  }

  networkScans(network: string): number {
    return this.view.networkScans(network);
  }

  networkHash(network: string): string {
    return this.view.networkHash(network);
  }

  alarmPlan(definition: string): AlarmPlan | undefined {
    return this.view.alarmPlan(definition);
  }
}
