/** Checks of a simulation block (decisions 6.3 to 6.5): one problem per wrong thing, each naming it. */
import type { Behavior, SimulationFault } from '../../port.js';
import { behaviorType, BEHAVIOR_TYPES } from './behavior-types.js';
import { FAULT_TYPES, faultType } from './faults.js';
import { referencesByParam } from './merge.js';
import { type ParamProblem, paramProblems, SIMULATED_ADDRESS, type UnknownWord } from './params.js';

/** Problems of one behaviour; a problem of the behaviour itself names `address` or `type` as its param. */
export function checkBehavior(behavior: Behavior): ParamProblem[] {
  const problems: ParamProblem[] = [];
  if (behavior.address.includes('/')) {
    problems.push({ param: 'address', message: `address ${behavior.address} is of another module: a behaviour moves a channel of its own module, and reads those of others` });
  } else if (!SIMULATED_ADDRESS.test(behavior.address)) {
    problems.push({ param: 'address', message: `address ${behavior.address} must begin with a letter and hold letters, digits, _ . - only` });
  }
  const type = behaviorType(behavior.type);
  if (!type) {
    const known = BEHAVIOR_TYPES.map((row) => row.type);
    return [...problems, { param: 'type', message: `behaviour type ${behavior.type} is not known; known are ${known.join(', ')}`, unknown: { word: behavior.type, known } }];
  }
  return [...problems, ...paramProblems(type.params, behavior.params)];
}

export function checkFault(fault: SimulationFault): ParamProblem[] {
  const problems: ParamProblem[] = [];
  if (fault.name === '') problems.push({ param: 'name', message: 'a fault needs a name' });
  if (fault.triggerMode !== 'Manual' && fault.triggerMode !== 'Timed') {
    problems.push({ param: 'triggerMode', message: 'triggerMode must be Manual or Timed' });
  }
  const type = faultType(fault.type);
  if (!type) {
    const known = FAULT_TYPES.map((row) => row.type);
    return [...problems, { param: 'type', message: `fault type ${fault.type} is not known; known are ${known.join(', ')}`, unknown: { word: fault.type, known } }];
  }
  return [...problems, ...paramProblems(type.params, fault.params)];
}

export interface SimulationProblem {
  /** For example `behaviors[3].params.rate` or `faults[0].address`. */
  readonly field: string;
  readonly message: string;
  readonly unknown?: UnknownWord;
}

const OWN_FIELDS = new Set(['address', 'type', 'name', 'triggerMode']);
const fieldOf = (list: string, index: number, param: string): string => (OWN_FIELDS.has(param) ? `${list}[${index}].${param}` : `${list}[${index}].params.${param}`);

/**
 * All problems of a merged simulation block. `addressesOf` gives what another module of the same controller offers: the channel and behaviour
 * addresses of a simulated one, the names and addresses of the channels of a device (ADR 0069); undefined when there is none of that name.
 */
export function simulationProblems(
  behaviors: readonly Behavior[],
  faults: readonly SimulationFault[],
  channelAddresses: readonly string[],
  addressesOf: (module: string) => ReadonlySet<string> | undefined,
): SimulationProblem[] {
  const own = new Set([...channelAddresses, ...behaviors.map((behavior) => behavior.address)]);
  const known = (reference: string): boolean => {
    const slash = reference.indexOf('/');
    return slash < 0 ? own.has(reference) : (addressesOf(reference.slice(0, slash))?.has(reference.slice(slash + 1)) ?? false);
  };
  // made once for all that is wrong
  const offered = new Map<string, readonly string[]>();
  const offeredBy = (module: string): readonly string[] => {
    const list = offered.get(module) ?? (module === '' ? [...own] : [...(addressesOf(module) ?? [])].map((address) => `${module}/${address}`));
    offered.set(module, list);
    return list;
  };
  const unknown = (reference: string): UnknownWord => ({ word: reference, known: offeredBy(reference.slice(0, Math.max(0, reference.indexOf('/')))) });
  const ofBehaviors = behaviors.flatMap((behavior, index) => [
    ...checkBehavior(behavior).map(({ param, ...problem }) => ({ field: fieldOf('behaviors', index, param), ...problem })),
    ...[...referencesByParam(behavior)]
      .filter(([reference]) => !known(reference))
      .map(([reference, param]) => ({
        field: fieldOf('behaviors', index, param),
        message: `${behavior.address} refers to ${reference}, which is no channel and no behaviour${reference.includes('/') ? ' of a module of the same controller' : ''}`,
        unknown: unknown(reference),
      })),
  ]);
  const names = new Set<string>();
  const ofFaults = faults.flatMap((fault, index) => {
    const problems = checkFault(fault).map(({ param, ...problem }): SimulationProblem => ({ field: fieldOf('faults', index, param), ...problem }));
    if (names.has(fault.name)) problems.push({ field: `faults[${index}].name`, message: `fault name ${fault.name} is used twice` });
    names.add(fault.name);
    if (!own.has(fault.address)) {
      const message = `fault ${fault.name} names ${fault.address}, which is no channel and no behaviour`;
      problems.push({ field: `faults[${index}].address`, message, unknown: unknown(fault.address) });
    }
    return problems;
  });
  return [...ofBehaviors, ...ofFaults];
}
