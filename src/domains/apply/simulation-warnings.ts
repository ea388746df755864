/**
 * What simulations cannot run, judged by the plant that all manifests leave behind: the probe takes such a module to Failed, all its channels are
 * Bad, and batches at work are held by them. A module that does not come with the apply is told of at the preset or module that breaks it.
 */
import { behaviorReferences, isSimulated } from '../../../runtime/catalog.js';
import { Turns } from '../../platform/base/slices.js';
import type { Clock } from '../../platform/base/clock.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { saidNote } from '../../platform/store/spec-note.js';
import { IOModule, type IOModuleSpec, SimulationPreset } from '../io-modules/kind.js';
import { presetNotes, simulationNotes, strayAddresses } from '../io-modules/simulation-notes.js';
import type { Outcome } from './judging.js';

/** Of one manifest; who reads them all has corrected none. */
const TOLD_MAX = 10;
const FAILED = 'the I/O module will be Failed';

interface SimulationLook {
  readonly store: StoreReader;
  /** The plant with all manifests in place. */
  readonly after: StoreReader;
  readonly clock: Clock;
}

/** @returns warnings by the index of the manifest; each begins with the member that it is about. */
export async function simulationWarnings(outcomes: readonly Outcome[], { store, after, clock }: SimulationLook): Promise<ReadonlyMap<number, readonly string[]>> {
  const told = new Map<number, string[]>();
  const tell = (index: number, warnings: readonly string[]): void => {
    if (warnings.length > 0) told.set(index, [...(told.get(index) ?? []), ...warnings]);
  };
  const written = outcomes.filter(({ puts }) => puts.length > 0);
  const modules = indexOf(written, IOModule.kind);
  const presets = indexOf(written, SimulationPreset.kind);
  const turns = new Turns(clock);
  for (const { step } of written) {
    const { site, index, manifest } = step;
    if (manifest.kind.kind === SimulationPreset.kind) tell(index, presetNotes(after.get(SimulationPreset, site, manifest.name)?.spec ?? NO_PRESET).map(saidNote));
    const spec = manifest.kind.kind === IOModule.kind ? after.get(IOModule, site, manifest.name)?.spec : undefined;
    if (spec) {
      const failing = simulationNotes(after, site, manifest.name, spec).map(({ path, text }) => ({ path, text: `${text}: ${FAILED}` }));
      tell(index, [...failing, ...strayAddresses(after, site, spec)].map(saidNote));
    }
    if (turns.isOver) await turns.next();
  }
  for (const site of new Set([...modules.values(), ...presets.values()].map(({ step }) => step.site))) {
    for (const { metadata, spec } of after.list(IOModule, site)) {
      const cause = modules.has(`${site}/${metadata.name}`) ? undefined : causeOf(after, site, spec, modules, presets);
      if (cause) {
        const known = new Set(simulationNotes(store, site, metadata.name, spec).map(saidNote));
        const fresh = simulationNotes(after, site, metadata.name, spec).filter((note) => !known.has(saidNote(note)));
        tell(
          cause.step.index,
          fresh.map(({ text }) => `I/O module ${metadata.name}: ${text}: it will be Failed`),
        );
      }
      if (turns.isOver) await turns.next();
    }
  }
  return new Map([...told].map(([index, warnings]) => [index, bounded(warnings)]));
}

const NO_PRESET = { description: '', behaviors: [] };

function indexOf(written: readonly Outcome[], kind: string): ReadonlyMap<string, Outcome> {
  return new Map(written.flatMap((outcome) => (outcome.step.manifest.kind.kind === kind ? [[`${outcome.step.site}/${outcome.step.manifest.name}`, outcome]] : [])));
}

/** What of the apply the module rests on: its preset, or a module that it reads. */
function causeOf(
  read: StoreReader,
  site: string,
  { protocol, simulation }: IOModuleSpec,
  modules: ReadonlyMap<string, Outcome>,
  presets: ReadonlyMap<string, Outcome>,
): Outcome | undefined {
  if (!isSimulated(protocol) || !simulation) return undefined;
  const preset = presets.get(`${site}/${simulation.preset}`);
  if (preset) return preset;
  const behaviors = [...(read.get(SimulationPreset, site, simulation.preset)?.spec.behaviors ?? []), ...simulation.behaviors];
  const others = behaviors.flatMap(behaviorReferences).flatMap((reference) => (reference.includes('/') ? [reference.slice(0, reference.indexOf('/'))] : []));
  const named = others.find((name) => modules.has(`${site}/${name}`));
  return named === undefined ? undefined : modules.get(`${site}/${named}`);
}

function bounded(warnings: readonly string[]): readonly string[] {
  return warnings.length <= TOLD_MAX ? warnings : [...warnings.slice(0, TOLD_MAX), `and ${warnings.length - TOLD_MAX} more of this kind`];
}
