/** An active step in the durable record of its chart, and the way back from it (decisions 2.6). */
import type { StepRecord } from '../port.js';
import type { Value } from '../vocabulary/data-types.js';
import { type Fate, type KeptOf, keptRows } from '../vocabulary/kept.js';
import { decodeSlot, encodeSlot } from './codec.js';
import type { CompiledStep } from './compile.js';
import { idleStep, type StepRun } from './step-run.js';
import { Any, type Raw } from './value.js';
import { restoreWait } from './wait.js';

const KEPT = {
  active: 'derived', // only active steps are on record
  activation: 'kept',
  activatedScan: 'derived', // of an action that has not begun the next one, see `ChartRun`
  elapsedMs: 'kept',
  actionState: 'kept',
  label: 'kept',
  temporaries: 'kept',
  wait: 'kept',
  timerMs: 'lost', // begins anew after Restart (decisions 2.5), without which nothing goes on
  timedOut: 'lost', // with the timer
  kept: 'kept',
} as const satisfies Record<keyof StepRun, Fate>;

type Draft = { -readonly [K in keyof StepRecord]: StepRecord[K] };

interface Restored {
  readonly step: StepRun;
  /** A call of a condition was under way, and nobody knows what it did. */
  isCallLost: boolean;
}

interface Row {
  readonly write: (record: Draft, step: StepRun, compiled: CompiledStep) => void;
  readonly read: (saved: StepRecord, restored: Restored, compiled: CompiledStep) => void;
}

/** In the order in which the record has always been written. */
const RECORD: { readonly [K in KeptOf<typeof KEPT>]: Row } = {
  activation: {
    write: (record, step) => {
      record.activation = step.activation;
    },
    read: (saved, { step }) => {
      step.activation = saved.activation;
    },
  },
  elapsedMs: {
    write: (record, step) => {
      record.elapsedMs = step.elapsedMs;
    },
    read: (saved, { step }) => {
      step.elapsedMs = saved.elapsedMs;
    },
  },
  actionState: {
    write: (record, step) => {
      record.actionState = step.actionState;
    },
    read: (saved, { step }) => {
      step.actionState = saved.actionState;
    },
  },
  label: {
    write: (record, step, { action }) => {
      if (step.actionState !== 'suspended') return;
      const types = action?.temporaryTypes ?? [];
      record.resumePoint = { label: step.label, temporaries: types.map((type, at) => encodeSlot(type, step.temporaries[at]) ?? null) };
    },
    read: (saved, { step }) => {
      step.label = saved.resumePoint?.label ?? 0;
    },
  },
  temporaries: {
    write: () => undefined, // with the label
    read: (saved, { step }, { action }) => {
      const types = action?.temporaryTypes ?? [];
      step.temporaries = types.map((type, at) => decodeSlot(type, saved.resumePoint?.temporaries[at] ?? undefined));
    },
  },
  wait: {
    write: (record, { wait }) => {
      if (wait) Object.assign(record, wait.record());
    },
    read: (saved, { step }) => {
      step.wait = restoreWait(saved);
    },
  },
  kept: {
    write: (record, { kept }) => {
      if (kept.size > 0)
        record.kept = [...kept].map(([site, call]) => ('wait' in call ? { site, ...call.wait.record() } : { site, value: encodeSlot('ANY', boxed(call.value)) as Value }));
    },
    read: (saved, restored) => {
      const { kept } = restored.step;
      for (const entry of saved.kept ?? []) {
        const wait = restoreWait(entry);
        // Nobody answers a request of before: one that only reads is asked again by the condition, any other has had an unknown outcome.
        if (wait?.inFlight) restored.isCallLost ||= !wait.isPolled;
        else if (wait) kept.set(entry.site, { wait });
        else if (entry.value !== undefined) kept.set(entry.site, { value: decodeSlot('ANY', entry.value) as Any });
      }
    },
  },
};

const ROWS = keptRows(KEPT, RECORD);

export function recordOf(step: StepRun, compiled: CompiledStep): StepRecord {
  const record = { step: compiled.name } as Draft;
  for (const { write } of ROWS) write(record, step, compiled);
  return record;
}

/** The step as it stood; what was under way is still to be judged. */
export function readStep(saved: StepRecord, compiled: CompiledStep): Restored {
  const restored: Restored = { step: idleStep(), isCallLost: false };
  restored.step.active = true;
  for (const { read } of ROWS) read(saved, restored, compiled);
  return restored;
}

function boxed(value: Raw | Any): Any {
  if (value instanceof Any) return value;
  return new Any(typeof value === 'boolean' ? 'BOOL' : typeof value === 'string' ? 'STRING' : 'REAL', value);
}
