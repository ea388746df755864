/**
 * What the box says in English sentences, each kind by a code with the names and values that are in it, so that whoever reads it can word it in
 * another language (ADR 0145). It stands beside the sentence, and is kept with it: a code keeps its meaning and its parts for as long as a record has it.
 * Pure.
 */

/** Of each code the names of its parts. A part without a value is ''. */
export const TOLD = {
  // ---- what stands against a command, found before it is given (preflight)
  /** `wanted`: the state that the command is for. */
  'not-in-state': ['phase', 'command', 'wanted'],
  failure: ['rule', 'message'],
  'stored-data': ['kind', 'name', 'fault'],
  alarm: ['alarm', 'message'],
  'manual-at-once': ['module', 'phase', 'address', 'step'],
  'manual-in-step': ['module', 'phase', 'address', 'step'],
  'manual-in-phase': ['module', 'phase', 'address', 'step'],
  /** Of a Start: `step` of `phase` comes first. */
  'manual-at-start': ['module', 'phase', 'address', 'step'],
  'not-automatic': ['module', 'mode'],
  bypassed: ['module'],
  'off-setpoint': ['module', 'value', 'setpoint', 'engUnits'],
  commanded: ['module', 'value'],
  /** `tag` of `module` has it since `at`. */
  'written-by-hand': ['module', 'tag', 'value', 'initial', 'engUnits', 'who', 'at'],
  'device-fault': ['module'],
  'runtime-not-ready': ['unit'],

  // ---- what stands against a Start
  'no-cell': ['unit'],
  'permissive-missing': ['unit', 'permissive', 'message'],
  'unit-in-manual': ['unit'],
  'batch-in-manual': [],
  'element-in-manual': ['kind', 'name'],
  'unit-not-held': ['unit'],
  'under-loop-check': ['unit', 'loopCheck', 'ioModule', 'operator'],
  'storage-low': [],
  'no-recipe': ['recipe'],
  'recipe-changed': ['recipe', 'fault'],
  'recipe-phase': ['recipe', 'phase'],
  'batch-id-taken': ['batchID', 'holder'],
  'batch-id-recorded': ['batchID', 'record'],
  'no-formula': ['formula'],
  'parameter-unknown': ['name', 'known'],
  'parameter-twice': ['name'],
  'value-missing': ['name'],
  'value-no-number': ['name'],
  'value-type': ['name', 'value', 'type'],
  'value-range': ['name', 'value', 'min', 'max', 'engUnits'],
  'value-choices': ['name', 'choices'],
  'quantity-no-number': [],
  'quantity-range': ['quantity', 'min', 'max', 'engUnits'],
  'quantity-unit': ['engUnits', 'expected'],
  'no-unit': ['unit'],
  'unit-taken': ['unit', 'holder'],
  'unit-not-at-rest': ['unit', 'state'],
  'no-unit-for': ['capability'],
  'none-fits': ['capability', 'units'],
  'none-free': ['capability', 'units'],
  'default-unit-absent': ['unit', 'capability', 'taken'],
  /** `issue` as in a row of the binding matrix. */
  'not-bound': ['step', 'role', 'unit', 'issue', 'message'],
  'leads-nowhere': ['module', 'fault'],
  'fault-unheard': ['module'],
  'chart-note': ['message'],
  'names-shared': ['step', 'other', 'kind', 'name'],
  'name-unreadable': ['kind', 'name'],
  'name-exists': ['kind', 'name'],
  'name-of-other': ['kind', 'name', 'ownerKind', 'owner'],
  'template-changed': ['kind', 'name', 'by', 'at', 'differences'],
  'coordination-missing': ['kind', 'name'],
  'coordination-strays': ['kind', 'name', 'step'],

  // ---- why a command is not obeyed
  'not-possible': ['command', 'state'],
  'failure-active': ['command', 'rule', 'message'],
  'refused-by': ['command', 'kind', 'name', 'state'],
  superseded: ['by', 'rule'],
  'order-unreadable': ['fault'],
  'unit-worked-since': ['unit', 'work'],
  'no-phase': ['phase'],

  // ---- why something failed or is held
  'module-in-manual': ['address', 'module'],
  'value-bad': ['address', 'quality'],
  'value-old': ['address', 'maxAge'],
  'value-none': ['address'],
  'write-read-only': ['address'],
  'write-type': ['address', 'value', 'type'],
  'write-range': ['address', 'value', 'min', 'max'],
  'write-text-long': ['address', 'bytes', 'max'],
  'write-withheld': ['address', 'ioModule'],
  'write-unreachable': ['address', 'ioModule'],
  'write-not-loaded': ['address', 'network'],
  'write-not-manual': ['address', 'network'],
  'write-no-tag': ['address'],
  'device-silent': ['address', 'channel', 'ms'],
  'device-refused': ['address', 'channel'],
  'channels-changed': ['address', 'channel'],
  'readback-differs': ['address', 'channel', 'readback', 'written'],
  'step-late': ['step', 'waits'],
  'phase-late': ['phase', 'seconds'],
  'element-late': ['seconds'],
  'chart-late': ['chart', 'ms'],
  'chart-failed': ['chart'],
  'chart-edited': [],
  'io-lost': ['ioModule'],
  'controller-lost': [],
  'restarted-in': ['state', 'steps'],
  restarted: [],
  'call-unanswered': ['call'],
  /** `error` is one of decisions 4.2 and 4.4; `about` the name or number it is about; `line` '' where it has none. */
  'text-error': ['error', 'about', 'line'],
  'alarms-hold': ['alarms', 'texts'],
  'loop-limit': ['step', 'count'],
  'signal-late': ['signal', 'raised', 'seconds'],
  'signal-lost': ['signal', 'producer', 'state'],
  'barrier-late': ['barrier', 'arrived', 'needed', 'seconds'],
  'barrier-lost': ['barrier', 'gone'],
  'held-by': ['who', 'reason'],

  // ---- what happened
  /** `event` as of the alarm (`Activated`), or `Standing` of one that stood `since` then. */
  'alarm-event': ['event', 'alarm', 'message', 'since'],
  'alarm-commands': ['alarm'],
  'box-restarted': ['from', 'to', 'gapMs'],
  'unit-restarted': ['unit', 'from', 'to', 'gapMs'],
  'mode-set': ['kind', 'name'],
  'tag-written': ['address'],
  'channel-set': ['channel'],
  'channels-released': ['ioModule', 'channels'],
  /** `blocks` '' for all of them. */
  'bypass-set': ['module', 'blocks', 'until'],
  'bypass-ended': ['module'],
  'fault-reset': ['module'],
  'parameter-set': ['address'],
  /** `more` places that the audit record has; '' for the one that is told. */
  'logic-edited': ['subject', 'users', 'place', 'more'],
  'edit-override': ['name'],
  'recipe-made': ['recipe'],
  'unit-chosen': ['capability', 'units', 'policy'],
  material: ['material', 'engUnits'],
  /** `step` '' where it was the phase that left it, which is in `state`. */
  'prompt-cancelled': ['step', 'state'],
  'result-delivered': ['key', 'system', 'sample'],
  'last-good-used': ['address'],
  'outcome-unknown': ['step'],
  'fault-meanwhile': ['state', 'rule', 'message', 'step'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type ToldCode = keyof typeof TOLD;
export type PartsOf<Code extends ToldCode> = Readonly<Record<(typeof TOLD)[Code][number], string>>;

interface Coded {
  readonly code: ToldCode;
  readonly parts: Readonly<Record<string, string>>;
}

/** The same as the sentence beside it. `parts.path`, where it is there, is the element below that it is about. */
export interface Told extends Coded {
  /** What exactly, of a code that only says that something failed. */
  readonly because?: Coded | undefined;
}

/** @param because what exactly; without it the sentence in the parts is all that is known. */
export function told<Code extends ToldCode>(code: Code, parts: PartsOf<Code>, because?: Told): Told {
  return because ? { code, parts, because: { code: because.code, parts: because.parts } } : { code, parts };
}

/** Of an element below: as the sentence that begins with its path. */
export function toldAt(path: string, of: Told | undefined): Told | undefined {
  return of && { ...of, parts: { ...of.parts, path: of.parts.path || path } };
}

/** A member beside the sentence; none where there is no code for it. */
export function withTold(of: Told | undefined): { readonly told?: Told } {
  return of ? { told: of } : {};
}

/** Of what failed by a rule: the failure as its sentence `<rule>: <message>`. */
export function toldFailure({ rule, message, told: because }: { readonly rule: string; readonly message: string; readonly told?: Told | undefined }): Told {
  return told('failure', { rule, message }, because);
}
