/** What to think of before a phase template runs: told where it is written, applied and read. */
import { type DeadChoice, deadChoices } from '../../../runtime/language/dead-choices.js';
import { undoneWrites } from '../../../runtime/language/undone-writes.js';
import type { PhaseSpec, PhaseTemplateSpec } from './kind.js';

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

const notesOf = new WeakMap<object, readonly string[]>();

/** What to think of before the template runs; kept with the spec, because every read of the template shows it. */
export function templateNotes(spec: PhaseTemplateSpec): readonly string[] {
  const known = notesOf.get(spec);
  if (known) return known;
  const notes = [...withdrawnMembers(spec), ...[...deadChoicesOf(spec), ...undoneWrites(spec as Parameters<typeof undoneWrites>[0])].map(({ message }) => message)];
  notesOf.set(spec, notes);
  return notes;
}
