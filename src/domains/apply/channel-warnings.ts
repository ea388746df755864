/**
 * What stands wrong on its channel when all manifests of an apply are in place: an I/O module may come behind the control module that names it, of
 * two that drive one output each is told of the other, and an input of a simulation that nothing moves is told to whoever reads it, or of the
 * simulation where that comes without its readers.
 */
import { isSimulated } from '../../../runtime/catalog.js';
import { Turns } from '../../platform/base/slices.js';
import type { Clock } from '../../platform/base/clock.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { saidNote, type SpecNote } from '../../platform/store/spec-note.js';
import { channelNotes } from '../control-modules/channel-notes.js';
import { type PlacedUse, usesOfProgram, usesOfStored } from '../control-modules/channel-uses.js';
import { moduleInputNotes, programInputNotes } from '../control-modules/input-sources.js';
import { ControlModule } from '../control-modules/kind.js';
import { contestedOf, contestedWords } from '../control-modules/output-owners.js';
import { resolvedModuleOf } from '../control-modules/modules.js';
import { IOModule, REHEARSAL_PRESET_LABEL, SimulationPreset } from '../io-modules/kind.js';
import { unsimulatedIn } from '../io-modules/unsimulated.js';
import { ControlProgram, ioModuleOf, ownerOfProgram } from '../logic/kind.js';
import type { Outcome } from './judging.js';
import { Telling, type ToldByIndex } from './telling.js';

const READERS: readonly string[] = [ControlModule.kind, ControlProgram.kind];
const SIMULATIONS: readonly string[] = [IOModule.kind, SimulationPreset.kind];
/** @param after the plant with all of them in place. @returns warnings by the index of the manifest; each begins with the member that it is about. */
export async function channelWarnings(outcomes: readonly Outcome[], { after, clock }: { readonly after: StoreReader; readonly clock: Clock }): Promise<ToldByIndex> {
  const told = new Telling(Number.POSITIVE_INFINITY);
  const ofSimulations = new Telling();
  // whoever reads is told of though he is as he was, for his channel may be another
  const readers = outcomes.filter(({ step }) => READERS.includes(step.manifest.kind.kind));
  const simulations = outcomes.filter(({ puts, step }) => puts.length > 0 && SIMULATIONS.includes(step.manifest.kind.kind));
  if (readers.length + simulations.length === 0) return told.all();
  const turns = new Turns(clock);
  for (const { step } of simulations) if (step.manifest.kind.kind === IOModule.kind) told.tell(step.index, contestedNotes(after, step.site, step.manifest.name));
  const still = stillBySite(after);
  for (const { step } of readers) {
    const notes = notesOf(after, { kind: step.manifest.kind.kind, site: step.site, name: step.manifest.name }, still(step.site));
    told.tell(step.index, notes.map(saidNote));
    if (turns.isOver) await turns.next();
  }
  const isTold = new Set(readers.map(({ step }) => `${step.site}/${step.manifest.kind.kind}/${step.manifest.name}`));
  for (const site of new Set(simulations.map(({ step }) => step.site))) {
    const concerned = modulesConcerned(
      after,
      site,
      simulations.filter(({ step }) => step.site === site),
    );
    const why = still(site);
    for (const { kind, metadata, uses } of readersOf(after, site)) {
      if (turns.isOver) await turns.next();
      if (concerned.size === 0 || isTold.has(`${site}/${kind}/${metadata.name}`)) continue;
      for (const use of uses()) {
        const index = concerned.get(ioModuleOf(use.channel));
        const reason = index === undefined || !isRead(use) ? '' : why(use.channel);
        if (index !== undefined && reason !== '') ofSimulations.tell(index, [`${use.user} of ${metadata.name} reads ${use.channel}, and ${reason}`]);
      }
    }
  }
  return new Map([...told.all(), ...ofSimulations.all()]);
}

/** Owners that were stored before their module came, or before it moved onto the place of another one. */
function contestedNotes(after: StoreReader, site: string, name: string): readonly string[] {
  return contestedOf(after, site, name).map((contested) => `spec.channels: ${contestedWords(contested)}`);
}

type Still = ReturnType<typeof unsimulatedIn>;

function stillBySite(read: StoreReader): (site: string) => Still {
  const known = new Map<string, Still>();
  return (site) => {
    const found = known.get(site) ?? unsimulatedIn(read, site);
    known.set(site, found);
    return found;
  };
}

/** I/O modules by name, with the manifest that changes what they simulate. */
function modulesConcerned(read: StoreReader, site: string, simulations: readonly Outcome[]): ReadonlyMap<string, number> {
  const presets = new Map(simulations.flatMap(({ step }) => (step.manifest.kind.kind === SimulationPreset.kind ? [[step.manifest.name, step.index]] : [])));
  const own = new Map(simulations.flatMap(({ step }) => (step.manifest.kind.kind === IOModule.kind ? [[step.manifest.name, step.index]] : [])));
  return new Map(
    read.list(IOModule, site).flatMap(({ metadata: { name, labels }, spec }) => {
      const preset = isSimulated(spec.protocol) ? spec.simulation?.preset : labels[REHEARSAL_PRESET_LABEL];
      const index = own.get(name) ?? presets.get(preset ?? '');
      return index === undefined ? [] : [[name, index] as const];
    }),
  );
}

function* readersOf(read: StoreReader, site: string) {
  for (const { kind, metadata, spec } of read.list(ControlModule, site)) yield { kind, metadata, uses: () => usesOfStored(read, spec) };
  // the program of a module is the module once more
  for (const { kind, metadata, spec } of read.list(ControlProgram, site)) if (ownerOfProgram(metadata) === undefined) yield { kind, metadata, uses: () => usesOfProgram(spec) };
}

/** A tag without block may stand on an output as well, which no behaviour has to move. */
function isRead({ drives }: PlacedUse): boolean {
  return !drives;
}

function notesOf(read: StoreReader, owner: { readonly kind: string; readonly site: string; readonly name: string }, still: Still): readonly SpecNote[] {
  const module = owner.kind === ControlModule.kind ? read.get(ControlModule, owner.site, owner.name) : undefined;
  const program = module ? undefined : read.get(ControlProgram, owner.site, owner.name);
  const uses = module ? usesOfStored(read, module.spec) : program ? usesOfProgram(program.spec) : [];
  const resolved = module && resolvedModuleOf(read, module);
  const inputs = module && resolved ? moduleInputNotes(read, owner.site, module.spec, resolved) : program ? programInputNotes(read, owner.site, program.spec) : [];
  return [...channelNotes(read, owner, uses), ...inputs, ...stillNotes(uses, still)];
}

function stillNotes(uses: readonly PlacedUse[], still: Still): readonly SpecNote[] {
  return uses.filter(isRead).flatMap(({ user, channel, path }) => {
    const why = still(channel);
    return why === '' ? [] : [{ path, text: `${user} reads ${channel}, and ${why}` }];
  });
}
