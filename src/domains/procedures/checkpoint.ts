/** The durable record of a phase run (port.ts, PhaseCheckpoint), as a schema: it is read back from a disk before a scan thread gets it. */
import * as v from 'valibot';
import { CHART_NAMES } from '../../../runtime/vocabulary/chart.js';
import { MODES } from '../../../runtime/vocabulary/modes.js';
import { STATES } from '../../../runtime/vocabulary/states.js';
import type { PhaseCheckpoint } from '../../../runtime/port.js';

const Texts = v.array(v.string());
const Value = v.union([v.number(), v.boolean(), v.string(), v.null()]);

const Wait = v.object({
  id: v.string(),
  kind: v.picklist(['acknowledge', 'choice', 'value']),
  text: v.string(),
  stepName: v.string(),
  openedAtMs: v.number(),
  choices: v.exactOptional(Texts),
  min: v.exactOptional(v.number()),
  max: v.exactOptional(v.number()),
  unit: v.exactOptional(v.string()),
  resultKey: v.exactOptional(v.string()),
});

const WAITING = {
  wait: v.exactOptional(Wait),
  answer: v.exactOptional(Value),
  suspension: v.exactOptional(
    v.object({
      builtin: v.string(),
      remainingMs: v.number(),
      answered: v.boolean(),
      failure: v.exactOptional(v.object({ rule: v.string(), message: v.string() })),
    }),
  ),
};

const Step = v.object({
  step: v.string(),
  activation: v.string(),
  elapsedMs: v.number(),
  actionState: v.picklist(['pending', 'running', 'suspended', 'finished', 'failed']),
  resumePoint: v.exactOptional(v.object({ label: v.number(), temporaries: v.array(Value) })),
  ...WAITING,
  kept: v.exactOptional(v.array(v.object({ ...WAITING, site: v.string(), value: v.exactOptional(Value) }))),
});

const Chart = v.object({
  chart: v.picklist(CHART_NAMES),
  hash: v.string(),
  steps: v.array(Step),
  completedSteps: Texts,
  firedTransitions: Texts,
  scanCount: v.number(),
  complete: v.boolean(),
});

const Failure = v.object({
  class: v.picklist(['hold', 'fail']),
  rule: v.string(),
  message: v.string(),
  step: v.string(),
  sinceMs: v.number(),
  active: v.boolean(),
  subject: v.exactOptional(v.string()),
});

export const Checkpoint: v.GenericSchema<unknown, PhaseCheckpoint> = v.object({
  state: v.picklist(STATES),
  mode: v.picklist(MODES),
  runCount: v.number(),
  runElapsedMs: v.number(),
  running: Chart,
  exception: v.exactOptional(Chart),
  variables: v.record(v.string(), Value),
  assigned: Texts,
  failure: v.exactOptional(Failure),
  holdIncomplete: v.exactOptional(v.boolean()),
  pausedAt: v.exactOptional(v.string()),
  returnTo: v.exactOptional(v.picklist(STATES)),
  raisedSignals: Texts,
  consumedSignals: Texts,
  savedAtMs: v.number(),
});
