/**
 * The durable record of a phase, and the way back from it (decisions 2.6, 3.8). Every report bears one, so it has what a
 * restart of the unit needs, and nothing that it begins anew.
 */
import type { PhaseCheckpoint } from '../port.js';
import type { Value } from '../vocabulary/data-types.js';
import { isFinal } from '../vocabulary/transitions.js';
import { decodeSlot, encodeSlot } from './codec.js';
import type { Variable } from './layout.js';
import type { KeptField, Phase } from './phase-memory.js';

type Draft = { -readonly [K in keyof PhaseCheckpoint]?: PhaseCheckpoint[K] };

/** What the way back has found. */
export interface Recovery {
  readonly saved: PhaseCheckpoint;
  /** Steps whose outcome nobody knows. */
  unknown: readonly string[];
  /** The chart was edited, or can no longer be executed, while it was active. */
  isEdited: boolean;
}

interface Kept {
  readonly write: (record: Draft, phase: Phase) => void;
  readonly read: (recovery: Recovery, phase: Phase) => void;
}

/**
 * Every kept field, in the order in which the record has always been written: stored records stay the same byte for byte.
 * A phase that was Idle begins with the variables and the chart of its plan.
 */
const RECORD: { readonly [K in KeptField]: Kept } & { readonly exception: Pick<Kept, 'write'> } = {
  state: {
    write: (record, { memory }) => {
      record.state = memory.state;
    },
    read: ({ saved }, { memory }) => {
      memory.state = saved.state;
      memory.previous = saved.state;
    },
  },
  mode: {
    write: (record, { memory }) => {
      record.mode = memory.mode;
    },
    read: ({ saved }, { memory }) => {
      memory.mode = saved.mode;
    },
  },
  runCount: {
    write: (record, { memory }) => {
      record.runCount = memory.runCount;
    },
    read: ({ saved }, { memory }) => {
      memory.runCount = saved.runCount;
    },
  },
  runElapsedMs: {
    write: (record, { memory }) => {
      record.runElapsedMs = memory.runElapsedMs;
    },
    read: ({ saved }, { memory }) => {
      memory.runElapsedMs = saved.runElapsedMs;
    },
  },
  running: {
    write: (record, { memory }) => {
      record.running = memory.running.record();
    },
    read: (recovery, { memory: { running }, unusable }) => {
      const { state, running: record } = recovery.saved;
      if (state === 'Idle') return;
      const isKnown = record.hash === '' || record.hash === running.chart.hash;
      if (isFinal(state)) {
        if (isKnown) running.restore(record);
      } else if (!isKnown || unusable) recovery.isEdited = true;
      else recovery.unknown = running.restore(record);
    },
  },
  exception: {
    write: (record, { memory: { exception } }) => {
      if (exception && exception.chart.steps.length > 0) record.exception = exception.record();
    },
  },
  variables: {
    write: (record, { compiled, memory }) => {
      const values = own(compiled.variables).flatMap(({ type, slot, name }): [string, Value][] => {
        const value = encodeSlot(type, memory.variables[slot]);
        return value === undefined ? [] : [[name, value]];
      });
      record.variables = Object.fromEntries(values);
    },
    read: ({ saved }, { compiled, memory }) => {
      if (saved.state === 'Idle') return;
      const values = new Map(Object.entries(saved.variables));
      for (const { type, slot, name } of own(compiled.variables)) memory.variables[slot] = decodeSlot(type, values.get(name));
    },
  },
  frame: {
    write: (record, { compiled, memory: { frame } }) => {
      record.assigned = own(compiled.variables)
        .filter(({ slot }) => frame.assigned[slot] === 1)
        .map(({ name }) => name);
    },
    read: ({ saved }, { compiled, memory: { frame } }) => {
      if (saved.state === 'Idle') return;
      const assigned = new Set(saved.assigned);
      for (const { slot, name } of own(compiled.variables)) if (assigned.has(name)) frame.assigned[slot] = 1;
    },
  },
  failure: {
    write: (record, { memory: { failure } }) => {
      if (failure) record.failure = failure;
    },
    read: ({ saved }, { memory }) => {
      memory.failure = saved.failure ?? null;
    },
  },
  holdIncomplete: {
    write: (record, { memory }) => {
      if (memory.holdIncomplete) record.holdIncomplete = true;
    },
    read: ({ saved }, { memory }) => {
      memory.holdIncomplete = saved.holdIncomplete ?? false;
    },
  },
  pausedAt: {
    write: (record, { memory: { pausedAt } }) => {
      if (pausedAt !== '') record.pausedAt = pausedAt;
    },
    read: ({ saved }, { memory }) => {
      memory.pausedAt = saved.pausedAt ?? '';
    },
  },
  returnTo: {
    write: (record, { memory: { state, returnTo } }) => {
      if (state === 'Resetting') record.returnTo = returnTo;
    },
    read: ({ saved }, { memory }) => {
      memory.returnTo = saved.returnTo ?? 'Aborted';
    },
  },
  raised: {
    write: (record, { memory }) => {
      record.raisedSignals = [...memory.raised];
    },
    read: ({ saved }, { memory }) => {
      memory.raised = new Set(saved.raisedSignals);
    },
  },
  consumed: {
    write: (record, { memory }) => {
      record.consumedSignals = [...memory.consumed];
    },
    read: ({ saved }, { memory }) => {
      memory.consumed = new Set(saved.consumedSignals);
    },
  },
};

const WRITERS: readonly Kept['write'][] = Object.values(RECORD).map(({ write }) => write);
const READERS: readonly Kept['read'][] = Object.values(RECORD).flatMap((row) => ('read' in row ? [row.read] : []));

/** What a parameter is stands in the plan. */
function own(variables: readonly Variable[]): readonly Variable[] {
  return variables.filter(({ kind }) => kind !== 'parameter');
}

export function checkpointOf(phase: Phase): PhaseCheckpoint {
  const record: Draft = {};
  for (const write of WRITERS) write(record, phase);
  record.savedAtMs = phase.host.nowMs();
  return record as PhaseCheckpoint;
}

/** Brings a phase that has just been made to where its record says it stood; says nothing. */
export function readBack(phase: Phase, saved: PhaseCheckpoint): Recovery {
  const recovery: Recovery = { saved, unknown: [], isEdited: false };
  for (const read of READERS) read(recovery, phase);
  return recovery;
}
