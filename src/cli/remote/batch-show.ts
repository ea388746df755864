/** A batch as a person wants to see it: where it stands, what it waits for, what went wrong, and its tree. */
import type { Answered } from '../../client/typed.js';
import type { Box } from './box.js';
import type { CommandContext } from './command.js';
import { findBatch, type NamedBatch } from './find-batch.js';
import { causesText, levelsText } from './modes.js';
import { type Outcome, section } from './outcome.js';
import { promptLine, type Prompt } from './prompts.js';

export type BatchBody = Answered<'/api/v1/sites/{site}/batches/{name}', 'get'>;
type Element = Answered<'/api/v1/sites/{site}/phases', 'get'>[number];

interface Leaf extends Element {
  readonly kind: string;
}

interface Branch {
  readonly kind: string;
  readonly name: string;
  readonly step: string;
  readonly path: string;
  readonly unit: string;
  readonly state: string;
  readonly activeSteps?: readonly string[];
  readonly children: readonly Branch[];
}

export async function showBatch({ box, args: [id = ''] }: CommandContext): Promise<Outcome> {
  const { site, name } = await findBatch(box, id);
  const path = { site, name };
  const [batch, elements, prompts] = await Promise.all([
    box.typed.get('/api/v1/sites/{site}/batches/{name}', { path }),
    elementsOf(box, { site, name }),
    box.typed.all('/api/v1/sites/{site}/prompts', { path: { site }, query: { batch: name } }),
  ]);
  const tree = branches(elements);
  return { data: { batch, elements: tree, prompts }, text: shown(batch, tree, prompts).join('\n') };
}

async function elementsOf({ typed }: Box, { site, name }: NamedBatch): Promise<readonly Leaf[]> {
  const call = { path: { site }, query: { batch: name } };
  const [procedures, unitProcedures, operations, phases] = await Promise.all([
    typed.all('/api/v1/sites/{site}/procedures', call),
    typed.all('/api/v1/sites/{site}/unitprocedures', call),
    typed.all('/api/v1/sites/{site}/operations', call),
    typed.all('/api/v1/sites/{site}/phases', call),
  ]);
  const of = (kind: string, items: readonly Element[]): readonly Leaf[] => items.map((item) => ({ ...item, kind }));
  return [...of('Procedure', procedures), ...of('UnitProcedure', unitProcedures), ...of('Operation', operations), ...of('Phase', phases)];
}

/** Brothers in the order in which they began; those that have not begun come last. */
function branches(all: readonly Leaf[], parent?: Leaf): readonly Branch[] {
  const mine = all.filter((each) => (parent ? each.parent?.kind === parent.kind && each.parent.name === parent.name : isTop(each, all)));
  const begun = ({ startedAt }: Leaf): string => (startedAt === '' ? '~' : startedAt);
  return [...mine]
    .sort((a, b) => (begun(a) < begun(b) ? -1 : begun(a) > begun(b) ? 1 : a.stepPath < b.stepPath ? -1 : 1))
    .map((each) => ({
      kind: each.kind,
      name: each.name,
      step: each.stepName,
      path: each.stepPath,
      unit: each.unit,
      state: each.state,
      ...(each.activeSteps ? { activeSteps: each.activeSteps } : {}),
      children: branches(all, each),
    }));
}

function isTop({ parent }: Leaf, all: readonly Leaf[]): boolean {
  return !parent || !all.some(({ kind, name }) => kind === parent.kind && name === parent.name);
}

function shown(batch: BatchBody, tree: readonly Branch[], prompts: readonly Prompt[]): readonly string[] {
  const order = batch.workOrderID === '' ? '' : `, work order ${batch.workOrderID}`;
  const size = batch.quantity === '' ? '' : `, ${batch.quantity} ${batch.engineeringUnit}`.trimEnd();
  return [
    `batch ${batch.batchID} (${batch.name}) is ${batch.phase}`,
    `  recipe ${batch.recipe.name === '' ? batch.masterRecipeRef : batch.recipe.name}${batch.recipe.version === '' ? '' : ` ${batch.recipe.version}`}${size}${order}`,
    ...(batch.startedAt === '' ? [] : [`  started ${batch.startedAt}${batch.endedAt === '' ? '' : `, ended ${batch.endedAt}`}`]),
    ...(batch.units.length === 0 ? [] : [`  units ${batch.units.join(', ')}`]),
    ...(batch.blockedBecause === '' ? [] : [`  waits: ${batch.blockedBecause}`]),
    ...manualLines(batch),
    ...(batch.commandRejection ? [`  refused: ${batch.commandRejection.command}: ${batch.commandRejection.message}`] : []),
    ...(batch.recovery ? [`  after a restart: ${batch.recovery.operator.text}`] : []),
    ...(batch.validCommands.length === 0 ? [] : [`  takes ${batch.validCommands.join(', ')}`]),
    ...section('what the process asks:', prompts.map(promptLine)),
    ...section('what went wrong:', wrongLines(batch)),
    ...section(
      'elements:',
      tree.flatMap((each) => branchLines(each, '')),
    ),
    ...section(
      'outputs:',
      batch.outputs.map(({ element, name, type, value, unit }) => `${element}.${name} = ${type === 'REAL' ? shortened(value) : value} ${unit}`.trimEnd()),
    ),
    ...(batch.recordRef === '' && !batch.recordPending ? [] : ['', batch.recordPending ? 'its record is being made' : `lineside record ${batch.batchID} reads its record`]),
  ];
}

function manualLines({ batchID, phase, inManual, blockedBy }: BatchBody): readonly string[] {
  if (inManual.length === 0) return [];
  const causes = causesText(inManual);
  const stands = phase === 'Running' && blockedBy.some(({ reason }) => reason === 'manual');
  return [`  ${stands ? 'stands in' : 'in'} Manual: ${levelsText(inManual)}${causes === '' ? '' : `, because ${causes}`}; lineside batch automatic ${batchID} sets them back`];
}

/** Digits beyond the sixth are of no device; the record has them all. */
function shortened(value: string): string {
  const number = Number(value);
  return value === '' || Number.isNaN(number) ? value : String(Number(number.toPrecision(6)));
}

function wrongLines({ failure, furtherFailures = [], holds }: BatchBody): readonly string[] {
  const failures = [...(failure ? [failure] : []), ...furtherFailures].map(({ since, rule, message }) => `${since}  ${rule}: ${message}`);
  const held = holds.map(({ since, until, rule, message, reason, element }) => {
    const where = element === null || element.path === '' ? '' : ` at ${element.path}`;
    return `${since}  held${where} (${rule}): ${message}${reason === '' ? '' : `, "${reason}"`}${until === '' ? '' : `; until ${until}`}`;
  });
  return [...failures, ...held];
}

function branchLines({ kind, step, name, unit, state, activeSteps = [], children }: Branch, indent: string): readonly string[] {
  const steps = activeSteps.length === 0 ? '' : `, step ${activeSteps.join(' and ')}`;
  const where = unit === '' ? '' : ` on ${unit}`;
  return [`${indent}${state.padEnd(10)} ${kind} ${step === '' ? name : step}${where}${steps}`, ...children.flatMap((child) => branchLines(child, `${indent}  `))];
}
