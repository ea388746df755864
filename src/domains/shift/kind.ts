/**
 * How long completed batches of a recipe took (ADR 0135): of each version the last runs, with where in the run each unit procedure began and ended.
 * Times are active ones: what a batch was held is not in them. Internal kind, counted by the gateway and never served as such.
 */
import * as v from 'valibot';
import type { ToldBy } from '../../platform/http/replies.js';
import type { Kind } from '../../platform/store/kind.js';

const StepTime = v.object({
  /** Step of the procedure chart. */
  step: v.string(),
  /** Active seconds of the batch at its begin and end. */
  fromS: v.number(),
  toS: v.number(),
});
export type StepTime = ToldBy<typeof StepTime>;

/** `toS`: active seconds of the batch at its end. */
const PhaseTime = v.object({ path: v.string(), toS: v.number() });

/** `phases` is missing of a run that was learnt before they were. */
const Run = v.object({ uid: v.string(), endedAt: v.string(), seconds: v.number(), steps: v.array(StepTime), phases: v.optional(v.array(PhaseTime)) });
export type Run = ToldBy<typeof Run>;

/** `name` is that of the master recipe; the newest version first. */
const RunExperienceSpec = v.looseObject({ versions: v.array(v.object({ version: v.string(), runs: v.array(Run) })) });
export type RunExperienceSpec = ToldBy<typeof RunExperienceSpec>;

export const RunExperience: Kind<RunExperienceSpec, Readonly<Record<string, never>>> = {
  kind: 'RunExperience',
  group: 'system',
  scope: 'site',
  action: 'plan',
  spec: RunExperienceSpec,
  body: 'document',
  besideSite: true,
  apply: { how: 'no', reason: 'the durations of completed batches are kept by the gateway' },
  initialStatus: () => ({}),
};
