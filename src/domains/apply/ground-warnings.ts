/**
 * Who stays as he is, and whose ground an apply takes away: a phase that names a module which is called something else from now on, a control
 * module whose channel is gone, an operation whose default its phase does not take any more, a recipe. What he says then and did not say before
 * is told at the manifest, or the removal, that brings it about. Whoever comes with the apply is told of by himself.
 */
import { Turns } from '../../platform/base/slices.js';
import type { Kind, StoreReader } from '../../platform/store/kind.js';
import { keyOf, refOf, type Resource } from '../../platform/store/resource.js';
import { saidNote, type SpecNote } from '../../platform/store/spec-note.js';
import { moduleChannelProblems, programChannelProblems } from '../control-modules/channel-uses.js';
import { ControlModule, ControlModuleTemplate } from '../control-modules/kind.js';
import { CoordinationBlock, SyncBarrier } from '../coordination/kind.js';
import { IOModule } from '../io-modules/kind.js';
import { ControlProgram, ownerOfProgram } from '../logic/kind.js';
import { Unit } from '../plant/kind.js';
import { OperationTemplate, PhaseTemplate, ProcedureTemplate, TEMPLATE_KINDS, UnitProcedureTemplate } from '../procedures/kind.js';
import { MasterRecipe, type MasterRecipeSpec, type MasterRecipeStatus, type RecipePhase } from '../recipes/kind.js';
import { recipeNotesInUse, templateSiteNotes } from '../recipes/recipe-notes.js';
import { causesOf, changesOf, type Effect, type PlantLook, sitesOf } from './causes.js';
import type { Outcome } from './judging.js';
import type { Removal } from './removals.js';
import { Telling, type ToldByIndex } from './telling.js';

/** Whoever has no batch any more is told nothing. */
const TOLD_PHASES: readonly RecipePhase[] = ['Draft', 'Rejected', 'Approved', 'Released', 'Effective'];
/** Of one site; whose cause is looked for. */
const EFFECTS_MAX = 200;

interface Readers {
  readonly kind: Kind;
  /** Kinds that what he says rests on. */
  readonly ground: readonly string[];
  /** Of one that is asked. */
  readonly notesOf: (read: StoreReader, resource: Resource) => readonly SpecNote[];
  readonly isAsked?: (resource: Resource) => boolean;
  readonly called?: (resource: Resource) => string;
}

const EQUIPMENT = [ControlModule.kind, ControlModuleTemplate.kind, ControlProgram.kind];
const SIGNALS = [CoordinationBlock.kind, SyncBarrier.kind];
type Recipe = Resource<MasterRecipeSpec, MasterRecipeStatus>;

const templates = (kind: Kind, ground: readonly string[]): Readers => ({
  kind,
  ground,
  notesOf: (read, { metadata, spec }) => templateSiteNotes(read, metadata.site, kind.kind, spec),
});

const READERS: readonly Readers[] = [
  templates(PhaseTemplate as Kind, [...EQUIPMENT, ...SIGNALS, IOModule.kind]),
  ...[OperationTemplate, UnitProcedureTemplate, ProcedureTemplate].map((kind) => templates(kind as Kind, [...TEMPLATE_KINDS, ...SIGNALS])),
  {
    kind: MasterRecipe as Kind,
    ground: [...TEMPLATE_KINDS, ...EQUIPMENT, ...SIGNALS, Unit.kind],
    notesOf: (read, recipe) => recipeNotesInUse(read, recipe as Recipe),
    isAsked: (recipe) => TOLD_PHASES.includes((recipe as Recipe).status.phase),
    called: (recipe) => `${(recipe as Recipe).status.phase} recipe ${recipe.metadata.name}`,
  },
  {
    kind: ControlModule as Kind,
    ground: [IOModule.kind, ControlModuleTemplate.kind],
    notesOf: (read, module) => moduleChannelProblems(read, module as Resource<never>),
  },
  {
    kind: ControlProgram as Kind,
    ground: [IOModule.kind],
    notesOf: (read, program) => programChannelProblems(read, program as Resource<never>),
    // the program of a module is the module once more
    isAsked: ({ metadata }) => ownerOfProgram(metadata) === undefined,
  },
];
const GROUND: ReadonlySet<string> = new Set(READERS.flatMap(({ ground }) => ground));

interface Reader {
  readonly resource: Resource;
  readonly of: Readers;
}

interface Told extends Effect<Reader> {
  readonly text: string;
}

/** @param gone what is pruned afterwards. @returns warnings by the index of the manifest, or of the removal, that brings them about. */
export async function groundWarnings(outcomes: readonly Outcome[], gone: readonly Removal[], { store, after, clock }: PlantLook): Promise<ToldByIndex> {
  const told = new Telling();
  const changes = changesOf(outcomes, gone, GROUND);
  if (changes.length === 0) return told.all();
  const turns = new Turns(clock);
  const present = new Set(outcomes.map(({ step: { manifest, site } }) => keyOf({ kind: manifest.kind.kind, site, name: manifest.name })));
  for (const site of sitesOf(changes, store)) {
    const own = changes.filter((change) => change.site === site || change.site === '');
    const changed = new Set(own.map(({ kind }) => kind));
    const fresh: Told[] = [];
    let count = 0;
    for (const readers of READERS.filter(({ ground }) => ground.some((kind) => changed.has(kind)))) {
      for (const resource of after.list(readers.kind, site)) {
        if (present.has(keyOf(refOf(resource))) || readers.isAsked?.(resource) === false) continue;
        const news = newOf({ resource, of: readers }, store, after);
        count += news.length;
        fresh.push(...news.slice(0, EFFECTS_MAX - fresh.length));
        if (turns.isOver) await turns.next();
      }
    }
    const causes = await causesOf<Reader, Told>(fresh, own, { store, turns, keysAt });
    for (const { effect, index } of causes) told.tell(index, [effect.text]);
    // more than anybody reads: the cause of the last stands for all of them
    const last = causes.at(-1);
    if (last) told.tell(last.index, [], count - fresh.length);
  }
  return told.all();
}

function newOf(reader: Reader, store: StoreReader, after: StoreReader): readonly Told[] {
  const { resource, of } = reader;
  const notes = of.notesOf(after, resource);
  if (notes.length === 0) return [];
  const known = new Set(of.notesOf(store, resource).map(noteKey));
  const who = of.called?.(resource) ?? `${resource.kind} ${resource.metadata.name}`;
  return notes.flatMap((note) => (known.has(noteKey(note)) ? [] : [{ of: reader, key: noteKey(note), text: `${who}: ${note.text}` }]));
}

function keysAt(read: StoreReader): (reader: Reader) => ReadonlySet<string> {
  return ({ resource, of }) => new Set(of.notesOf(read, resource).map(noteKey));
}

/** Which name is the nearest is no news. */
function noteKey(note: SpecNote): string {
  return saidNote(note).replace(/ \(the nearest is [^)]*\)/, '');
}
