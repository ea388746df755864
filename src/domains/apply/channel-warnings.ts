/**
 * What stands wrong on its channel when all manifests of an apply are in place: an I/O module may come behind the control module that names it, and of
 * two that drive one output each is told of the other.
 */
import { Turns } from '../../platform/base/slices.js';
import type { Clock } from '../../platform/base/clock.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { moduleChannelNotes, programChannelNotes } from '../control-modules/channel-uses.js';
import { ControlModule } from '../control-modules/kind.js';
import { resolvedModuleOf } from '../control-modules/modules.js';
import { ControlProgram } from '../logic/kind.js';
import type { Outcome } from './judging.js';

/** @param after the plant with all of them in place. @returns warnings by the index of the manifest; each begins with the member that it is about. */
export async function channelWarnings(
  outcomes: readonly Outcome[],
  { after, clock }: { readonly after: StoreReader; readonly clock: Clock },
): Promise<ReadonlyMap<number, readonly string[]>> {
  const told = new Map<number, readonly string[]>();
  const written = outcomes.filter(({ puts, step: { manifest } }) => puts.length > 0 && (manifest.kind.kind === ControlModule.kind || manifest.kind.kind === ControlProgram.kind));
  if (written.length === 0) return told;
  const turns = new Turns(clock);
  // who drives which output is found of all modules of a site at once: each is merged with its template before, and is so but once
  for (const site of new Set(written.map(({ step }) => step.site))) {
    for (const module of after.list(ControlModule, site)) {
      resolvedModuleOf(after, module);
      if (turns.isOver) await turns.next();
    }
  }
  for (const { step } of written) {
    const notes = notesOf(after, step.manifest.kind.kind, { site: step.site, name: step.manifest.name });
    if (notes.length > 0)
      told.set(
        step.index,
        notes.map(({ path, text }) => `spec.${path}: ${text}`),
      );
    if (turns.isOver) await turns.next();
  }
  return told;
}

function notesOf(read: StoreReader, kind: string, owner: { readonly site: string; readonly name: string }) {
  const module = kind === ControlModule.kind ? read.get(ControlModule, owner.site, owner.name) : undefined;
  if (module) return moduleChannelNotes(read, owner, module.spec);
  const program = read.get(ControlProgram, owner.site, owner.name);
  return program ? programChannelNotes(read, owner, program.spec) : [];
}
