/** mode, batch automatic: who drives equipment and procedures; levels above that went to Manual with one below are named, and taken back. */
import { MODES } from '../../../runtime/vocabulary/modes.js';
import type { Answered } from '../../client/typed.js';
import type { Box } from './box.js';
import { type CommandContext, type CommandRow, textOf } from './command.js';
import { familyOf } from './families.js';
import { batchIDs, findBatch } from './find-batch.js';
import { EXIT, type Outcome, usage } from './outcome.js';

type ModeAnswer = Answered<'/api/v1/sites/{site}/mode', 'post'>;
type Level = Answered<'/api/v1/sites/{site}/batches/{name}', 'get'>['inManual'][number];

/** Elements that have others above them. */
const ELEMENT_PATHS = {
  Phase: '/api/v1/sites/{site}/phases/{name}',
  Operation: '/api/v1/sites/{site}/operations/{name}',
  UnitProcedure: '/api/v1/sites/{site}/unitprocedures/{name}',
} as const;

/** As a person finds it in the tree of the batch. */
export function levelsText(levels: readonly Pick<Level, 'kind' | 'name' | 'path'>[]): string {
  return levels.map(({ kind, name, path }) => `${kind} ${path === '' ? name : path}`).join(', ');
}

/** What was set to Manual by somebody, where others went with it. */
export function causesText(levels: readonly Level[]): string {
  const causes = new Map(levels.flatMap(({ manual }) => (manual ? [[`${manual.because.kind} ${manual.because.name}`, manual] as const] : [])));
  return [...causes.values()].map(({ since, because }) => `${levelsText([because])} was set to Manual at ${since}`).join(', ');
}

async function levelsAbove(box: Box, site: string, kind: string, name: string): Promise<readonly Level[]> {
  const path = ELEMENT_PATHS[kind as keyof typeof ELEMENT_PATHS] as (typeof ELEMENT_PATHS)['Phase'] | undefined;
  if (path === undefined) throw usage(`--above is for ${Object.keys(ELEMENT_PATHS).join(', ')}; a ${kind} has no levels above it`);
  return (await box.typed.get(path, { path: { site, name } })).levelsAbove;
}

async function setMode({ box, args: [name = '', word = ''], options }: CommandContext): Promise<Outcome> {
  const mode = MODES.find((each) => each.toLowerCase() === word.toLowerCase());
  if (!mode) throw usage(`${word} is no mode: give ${MODES.join(', ')}`);
  const { kind } = familyOf(textOf(options, 'kind') ?? 'ControlModule');
  const site = await box.site();
  const also = options.above === true ? (await levelsAbove(box, site, kind, name)).filter((level) => level.mode !== mode) : [];
  const named = also.map((level) => ({ kind: level.kind, name: level.name }));
  const done = await box.typed.post('/api/v1/sites/{site}/mode', { path: { site }, body: { kind, name, mode, ...(named.length === 0 ? {} : { also: named }) } });
  return { data: done, text: [`${name} is in ${done.mode} (was ${done.previousMode})`, ...levelLines(done)].join('\n') };
}

function levelLines({ kind, name, mode, levels, stillManual }: ModeAnswer): readonly string[] {
  const with_ = levels.length === 0 ? [] : [`with it ${levelsText(levels)}${mode === 'Manual' ? '; none of them goes back by itself' : ''}`];
  if (stillManual.length === 0) return with_;
  return [
    ...with_,
    `above it still in Manual: ${levelsText(stillManual)}; nothing fires there by itself`,
    `lineside mode ${name} ${mode} --kind ${kind} --above sets these too; lineside batch automatic BATCH sets all of a batch`,
  ];
}

/** Every level of the batch that is in Manual, in one request; between the question and it, somebody may have changed some. */
async function toAutomatic({ box, args: [id = ''] }: CommandContext): Promise<Outcome> {
  const { site, name } = await findBatch(box, id);
  const { batchID, inManual } = await box.typed.get('/api/v1/sites/{site}/batches/{name}', { path: { site, name } });
  const [first, ...others] = inManual;
  if (!first) return { data: { batch: name, levels: [] }, text: `no level of ${batchID} is in Manual` };
  const also = others.map((level) => ({ kind: level.kind, name: level.name }));
  const body = { kind: first.kind, name: first.name, mode: 'Automatic' as const, ...(also.length === 0 ? {} : { also }) };
  const { mode, previousMode, levels: withIt, stillManual } = await box.typed.post('/api/v1/sites/{site}/mode', { path: { site }, body });
  const { kind, path } = first;
  const levels = [...(previousMode === mode ? [] : [{ kind, name: first.name, path, previousMode }]), ...withIt];
  const text = [
    levels.length === 0 ? `somebody has set the levels of ${batchID} back already` : `${batchID} is back in ${mode}: ${levelsText(levels)}`,
    ...(stillManual.length === 0 ? [] : [`still in Manual: ${levelsText(stillManual)}; nothing fires there by itself, and lineside batch automatic ${batchID} sets these too`]),
  ];
  return { data: { batch: name, levels, stillManual }, text: text.join('\n'), exitCode: stillManual.length === 0 ? EXIT.ok : EXIT.no };
}

async function moduleNames({ box }: CommandContext): Promise<readonly string[]> {
  const site = await box.site();
  return (await box.typed.all('/api/v1/sites/{site}/controlmodules', { path: { site } })).map(({ name }) => name);
}

export const MODE_COMMANDS: readonly CommandRow[] = [
  {
    typed: 'mode <name> <mode>',
    about: 'who drives a control module: Manual is people, Automatic is phases, Semi-Automatic is both',
    options: [
      ['--kind <kind>', 'Unit, Phase and other elements that have a mode; ControlModule where it is left out'],
      ['--above', 'of an element: the levels above it too, which went to Manual with it and do not come back by themselves'],
    ],
    words: { mode: MODES },
    names: { name: moduleNames },
    examples: ['lineside mode xv1 Manual', 'lineside mode v1 Automatic --kind Unit', 'lineside mode WO-7-make-heat Automatic --kind Phase --above'],
    run: setMode,
  },
];

export const BATCH_MODE_COMMANDS: readonly CommandRow[] = [
  {
    typed: 'batch automatic <batch>',
    about: 'set every level of a batch that is in Manual back to Automatic; lineside batch show tells which they are',
    names: { batch: ({ box }) => batchIDs(box, { onlyOpen: true }) },
    examples: ['lineside batch automatic WO-7'],
    run: toAutomatic,
  },
];
