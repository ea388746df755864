/** What of the charts of a rehearsed batch was ever reached: steps and transitions of all elements, over all their runs. */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { type ChartTransition, transitionKey } from '../../../runtime/vocabulary/chart.js';
import type { TransitionReport } from '../../../runtime/port.js';
import type { Blocker } from '../batches/reading/blocked-by.js';
import type { Resource } from '../../platform/store/resource.js';
import type { ElementStatus, PhaseSpec, ProcedureSpec } from '../procedures/kind.js';

export type ElementResource = Resource<ProcedureSpec | PhaseSpec, ElementStatus>;

export const UnreachedStep = v.strictObject({
  path: v.string(),
  step: v.string(),
});
export type UnreachedStep = ToldBy<typeof UnreachedStep>;

export const UnfiredTransition = v.strictObject({
  path: v.string(),
  /** `<from>-><to>#<index>`. */
  transition: v.string(),
  condition: v.string(),
  /** What its condition was when the element was seen last, and what of it was not met; empty when it was not looked at. */
  reason: v.string(),
});
export type UnfiredTransition = ToldBy<typeof UnfiredTransition>;

nameSchemas({ UnreachedStep, UnfiredTransition });

interface Seen {
  readonly steps: Set<string>;
  readonly fired: Set<string>;
}

export class Coverage {
  readonly #seen = new Map<string, Seen>();

  /** At every change of the element. A reset forgets where a chart has been; this does not. */
  note({ metadata, status }: ElementResource): void {
    let seen = this.#seen.get(metadata.name);
    if (!seen) this.#seen.set(metadata.name, (seen = { steps: new Set(), fired: new Set() }));
    const { sfcStatus, progress } = status;
    for (const step of [...(sfcStatus?.activeSteps ?? []), ...(sfcStatus?.completedSteps ?? []), ...(progress?.active ?? []), ...(progress?.completed ?? [])]) seen.steps.add(step);
    for (const key of [...(sfcStatus?.firedTransitions ?? []), ...(progress?.fired ?? [])]) seen.fired.add(key);
  }

  unreachedSteps(elements: readonly ElementResource[]): UnreachedStep[] {
    return elements.flatMap(({ metadata, spec }) => {
      const seen = this.#seen.get(metadata.name)?.steps;
      const steps = chartOf(spec).steps ?? [];
      return steps.filter(({ name }) => !seen?.has(name)).map(({ name }) => ({ path: spec.stepPath, step: name }));
    });
  }

  /** Of the elements that have run: the transitions of the others say nothing that their steps do not. */
  unfiredTransitions(elements: readonly ElementResource[], blockers: readonly Blocker[]): UnfiredTransition[] {
    const waiting = new Map(blockers.flatMap(waitingConditions));
    return elements.flatMap(({ metadata, spec, status }) => {
      const seen = this.#seen.get(metadata.name);
      if (!seen || seen.steps.size === 0) return [];
      const transitions: readonly ChartTransition[] = chartOf(spec).transitions ?? [];
      return transitions.flatMap((transition, index) => {
        const key = transitionKey(transition, index);
        if (seen.fired.has(key)) return [];
        const report = status.sfcStatus?.transitionStates.find((candidate) => candidate.index === index);
        return [
          { path: spec.stepPath, transition: key, condition: transition.conditionST ?? '', reason: waiting.get(`${metadata.name} ${key}`) ?? (report ? reasonOf(report) : '') },
        ];
      });
    });
  }
}

function chartOf(spec: ProcedureSpec | PhaseSpec): Pick<PhaseSpec, 'steps' | 'transitions'> | ProcedureSpec['chart'] {
  return 'chart' in spec ? spec.chart : spec;
}

/** Of a chart that waits, with present values: its last report may be older. */
function waitingConditions({ element, transition, conditions = [], alternatives = [] }: Blocker): (readonly [string, string])[] {
  const waiting = [...(transition === undefined ? [] : [{ transition, conditions }]), ...alternatives];
  return waiting.map((way) => [`${element.name} ${way.transition}`, unmetOf(way.conditions).join('; ')] as const);
}

function reasonOf({ result, reason, subConditions, met }: TransitionReport): string {
  return met ? '' : [result, ...(reason ? [reason] : []), ...unmetOf(subConditions)].join('; ');
}

function unmetOf(parts: TransitionReport['subConditions']): string[] {
  return parts.filter(({ met }) => !met).map(({ expression, now }) => (now === undefined ? expression : `${expression}, now ${now}`));
}
