/** One channel of the simulated plant, and what a simulated module is given as (decisions 6.1). */
import type { Behavior, SimulationFault } from '../../port.js';
import { QUALITY, type QualityCode } from '../../vocabulary/quality.js';
import type { ChannelType } from '../description.js';
import type { FaultySample } from './faults.js';

export interface SimulatedChannel {
  readonly address: string;
  readonly dataType: ChannelType;
  /** Value before anything was written. */
  readonly initial: number | string;
}

export interface SimulatedModule {
  readonly name: string;
  readonly tickMs: number;
  readonly seed: number;
  readonly channels: readonly SimulatedChannel[];
  readonly behaviors: readonly Behavior[];
  readonly faults: readonly SimulationFault[];
}

export interface SimulatedSample {
  readonly value: number;
  /** Present on text channels. */
  readonly text?: string;
  readonly dataType: ChannelType;
  readonly quality: QualityCode;
  readonly atMs: number;
  readonly forced: boolean;
}

export interface Cell {
  readonly address: string;
  readonly dataType: ChannelType;
  /** Where its value, quality and time stand in the arrays of the engine; 0 until it has a place. */
  slot: number;
  /** Last value written by control. */
  written: number;
  writtenText: string;
  /** Own value of the behaviour, before faults and forcing; unrounded. */
  own: number;
  forced: number | string | undefined;
  text: string;
  /** The sample and text of the tick being computed. */
  readonly next: FaultySample;
  nextText: string;
}

export function shownNumber(value: number, dataType: ChannelType): number {
  if (dataType === 'int') return Math.round(value);
  return dataType === 'bool' ? Number(value !== 0) : value;
}

/** @param start of its behaviour, where that says one. */
export function newCell(channel: SimulatedChannel, start: number | undefined): Cell {
  const written = typeof channel.initial === 'number' ? channel.initial : 0;
  const own = start ?? written;
  const text = typeof channel.initial === 'string' ? channel.initial : '';
  return {
    address: channel.address,
    dataType: channel.dataType,
    slot: 0,
    written,
    writtenText: text,
    own,
    forced: undefined,
    text,
    next: { value: own, quality: QUALITY.Bad, atMs: 0 },
    nextText: text,
  };
}

/** Another behaviour begins in the place of what drove the cell before. */
export function restart(cell: Cell, start: number | undefined): void {
  cell.own = start ?? cell.written;
}
