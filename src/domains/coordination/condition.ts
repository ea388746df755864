/** The condition of a signal (decisions 2.7): tested in every scan of its phase, for no step in particular. */
import { parseCondition } from '../../../runtime/language/parser.js';
import { callToWaitFor, waitsIn } from '../../../runtime/language/walk.js';

export interface ConditionFault {
  readonly line: number;
  readonly message: string;
}

/** Why it cannot be written; undefined when it can. Names are those of the phase that will raise the signal: not known here. */
export function conditionFault(condition: string): ConditionFault | undefined {
  if (condition.trim() === '') return undefined;
  const { expression, diagnostics } = parseCondition(condition);
  return diagnostics.find(({ severity }) => severity === 'error') ?? waitingCall(expression);
}

/**
 * A call that nothing keeps an answer for; '' when there is none. Such a text may stand in data of before it was checked where it
 * is written: its block is out of work, its phase is not.
 */
export function unanswered(condition: string): string {
  return waitingCall(parseCondition(condition).expression)?.message ?? '';
}

function waitingCall(expression: ReturnType<typeof parseCondition>['expression']): ConditionFault | undefined {
  const call = expression ? callToWaitFor(expression) : undefined;
  return call && { line: call.at.line, message: waitsIn(call) };
}
