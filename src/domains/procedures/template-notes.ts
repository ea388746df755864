/** What to think of before a template runs: told where it is written, applied and read. */
import { type ChartUses, usesOf } from '../../../runtime/language/chart-uses.js';
import { type DeadChoice, deadChoices } from '../../../runtime/language/dead-choices.js';
import { undoneWrites } from '../../../runtime/language/undone-writes.js';
import { saidNote, type SpecNote } from '../../platform/store/spec-note.js';
import type { OperationTemplateSpec, ParameterSpec, PhaseSpec, PhaseTemplateSpec, ProcedureTemplateSpec } from './kind.js';
import { valueFault } from './value-fault.js';

const deadOf = new WeakMap<object, readonly DeadChoice[]>();

/** Answers of prompts that lead nowhere, of a template or of a phase made from it; kept with the spec, because a phase that waits is looked at each second. */
export function deadChoicesOf(spec: PhaseTemplateSpec | PhaseSpec): readonly DeadChoice[] {
  const known = deadOf.get(spec);
  if (known) return known;
  const dead = deadChoices(spec as Parameters<typeof deadChoices>[0]);
  deadOf.set(spec, dead);
  return dead;
}

/** What a phase template says that has no effect any more. */
export function withdrawnMembers({ autoRestartWithinSeconds }: { readonly autoRestartWithinSeconds: number }): string[] {
  if (autoRestartWithinSeconds === 0) return [];
  return [`autoRestartWithinSeconds ${autoRestartWithinSeconds} has no effect: after a restart what was running is held and waits for a person`];
}

const usesIn = new WeakMap<object, ChartUses>();

/** What the texts of a template name; kept with the spec, because its recipes and its site ask for it again. */
export function textsOf(spec: PhaseTemplateSpec): ChartUses {
  const known = usesIn.get(spec);
  if (known) return known;
  const uses = usesOf(spec as Parameters<typeof usesOf>[0]);
  usesIn.set(spec, uses);
  return uses;
}

const notesOf = new WeakMap<object, readonly SpecNote[]>();

/** Kept with the spec, because every read of the template shows it. */
function phaseNotes(spec: PhaseTemplateSpec): readonly SpecNote[] {
  const known = notesOf.get(spec);
  if (known) return known;
  const texts = [...withdrawnMembers(spec), ...[...deadChoicesOf(spec), ...undoneWrites(spec as Parameters<typeof undoneWrites>[0])].map(({ message }) => message)];
  const notes = [...texts.map((text): SpecNote => ({ path: '', text })), ...unfitDefaults(spec.parameters), ...unsetOutputs(spec)];
  notesOf.set(spec, notes);
  return notes;
}

/** What to think of before a phase template runs. */
export function templateNotes(spec: PhaseTemplateSpec): readonly string[] {
  return phaseNotes(spec).map(({ text }) => text);
}

/** As `templateNotes`, with the member that each is about. */
export function templateWarnings(spec: PhaseTemplateSpec): readonly string[] {
  return phaseNotes(spec).map(saidNote);
}

type SequenceSpec = OperationTemplateSpec | ProcedureTemplateSpec;

/** Of the template of an operation, unit procedure or procedure by itself. */
export function sequenceNotes({ parameters }: SequenceSpec): readonly string[] {
  return unfitDefaults(parameters).map(({ text }) => text);
}

export function sequenceWarnings({ parameters }: SequenceSpec): readonly string[] {
  return unfitDefaults(parameters).map(saidNote);
}

/** Whoever gives no value gets one with which the element does not start (decisions 3.2, `formula-out-of-range`). */
function unfitDefaults(parameters: readonly ParameterSpec[]): readonly SpecNote[] {
  return parameters.flatMap((formal, at): readonly SpecNote[] => {
    const fault = formal.defaultValue === '' ? undefined : valueFault(formal, formal.defaultValue);
    if (!fault) return [];
    return [{ path: `parameters[${at}].defaultValue`, text: `the default does not fit: ${fault.message}; where nobody gives a value, nothing can be started with it` }];
  });
}

/** An output that no text sets has no value when the phase ends, and what is bound to it keeps its default. A template without steps is still to be written. */
function unsetOutputs(spec: PhaseTemplateSpec): readonly SpecNote[] {
  if (spec.outputs.length === 0 || spec.steps.length === 0) return [];
  const { assigned } = textsOf(spec);
  return spec.outputs.flatMap(({ name }, at): readonly SpecNote[] =>
    assigned.has(name.toLowerCase()) ? [] : [{ path: `outputs[${at}].name`, text: `no text of the template gives output ${name} a value: it stays without one` }],
  );
}
