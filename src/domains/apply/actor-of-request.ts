import type { RequestContext } from '../../platform/http/route.js';
import type { ApplyActor } from './context.js';

/** Whoever sends a request that applies manifests, judged as he is at the time. `details`: of each of its records. */
export function applyActorOf(context: Pick<RequestContext<unknown, unknown>, 'caller' | 'audit' | 'judgeAgain'>, details?: Readonly<Record<string, unknown>>): ApplyActor {
  return {
    displayName: context.caller.displayName,
    get signatory() {
      return context.caller;
    },
    get sites() {
      return context.caller.sites;
    },
    may: (action) => context.caller.may(action),
    judgeAgain: () => context.judgeAgain(),
    audit: (entry) => context.audit(details ? { ...entry, details: { ...entry.details, ...details } } : entry),
  };
}
