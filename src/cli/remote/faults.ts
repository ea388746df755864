/** fault: devices that have latched a fault, and their reset: one request in every mode (ADR 0030). */
import { ApiError } from '../../client/api.js';
import type { Answered } from '../../client/typed.js';
import { type CommandContext, type CommandRow, textOf } from './command.js';
import { CommandError, EXIT, type Outcome, table } from './outcome.js';

type Tag = Answered<'/api/v1/sites/{site}/tags/browse', 'get'>[number];

/** By the tag that tells it. */
interface Fault {
  readonly controlModule: string;
  readonly unit: string;
  readonly tag: string;
  readonly quality: string;
  /** Null where nobody knows: its unit is not scanned. */
  readonly inFault: true | null;
}

/** Latched behind signals of whatever quality: a broken wire is what has often caused it. */
const isQuiet = ({ deviceFault, value }: Tag): boolean => deviceFault !== true || value === false;

async function faults({ box, options }: CommandContext): Promise<readonly Fault[]> {
  const site = await box.site();
  const unit = textOf(options, 'unit');
  const ofUnit = unit === undefined ? {} : { unit };
  if (unit !== undefined) await box.typed.get('/api/v1/sites/{site}/units/{name}', { path: { site, name: unit } });
  const tags = await box.typed.all('/api/v1/sites/{site}/tags/browse', { path: { site }, query: { ...ofUnit, deviceFault: true } });
  return tags.flatMap((tag) =>
    isQuiet(tag) ? [] : [{ controlModule: tag.controlModule, unit: tag.unit, tag: tag.address, quality: tag.quality, inFault: tag.value === true || null }],
  );
}

async function list(context: CommandContext): Promise<Outcome> {
  const found = await faults(context);
  const rows = found.map(({ controlModule, unit, tag, quality, inFault }) => [controlModule, unit, tag, inFault ? 'in fault' : 'not known', quality]);
  const where = textOf(context.options, 'unit') ?? (await context.box.site());
  return { data: found, text: found.length === 0 ? `no device of ${where} is in fault` : table(['module', 'unit', 'tag', 'device', 'quality'], rows) };
}

async function reset({ box, args: [cm = ''], options }: CommandContext): Promise<Outcome> {
  const site = await box.site();
  const reason = textOf(options, 'reason');
  const body = { ...(options.moves === true ? { moves: true } : {}), ...(reason === undefined ? {} : { reason }) };
  const done = await box.typed.post('/api/v1/sites/{site}/controlmodules/{cm}/reset-fault', { path: { site, cm }, body }).catch((fault: unknown) => {
    throw wouldMove(fault, cm) ?? fault;
  });
  const text =
    done.reset.length === 0
      ? `${cm} is not in fault: nothing was reset`
      : `the fault of ${cm} is reset (${done.reset.join(', ')}); its next command shows whether the device follows`;
  return { data: done, text };
}

/** The box speaks of its request; whoever types has an option for it. */
function wouldMove(fault: unknown, cm: string): CommandError | undefined {
  if (!(fault instanceof ApiError) || fault.code !== 'would_move') return undefined;
  const { blocks } = fault.body;
  const which = Array.isArray(blocks) ? ` (${blocks.join(', ')})` : '';
  const message = `${cm} would move at once, because its command stands${which}: nothing was reset. Add --moves when nobody is at the equipment, or take the command back first`;
  return new CommandError(EXIT.refused, fault.code, message, { status: fault.status, controlModule: cm, blocks });
}

async function modulesInFault(context: CommandContext): Promise<readonly string[]> {
  return [...new Set((await faults(context)).flatMap(({ controlModule, inFault }) => (inFault ? [controlModule] : [])))];
}

export const FAULT_COMMANDS: readonly CommandRow[] = [
  {
    typed: 'fault list',
    about: 'devices that are in fault: they stay at their fail position until they are reset',
    options: [['--unit <unit>', 'of one unit']],
    examples: ['lineside fault list', 'lineside fault list --unit rx101'],
    run: list,
  },
  {
    typed: 'fault reset <module>',
    about: 'reset the latched faults of the devices of a control module, in every mode and at rest; interlocks, alarms and the batch stay as they are',
    options: [
      ['--moves', 'also where its command stands, so that it moves at once: only when nobody is at the equipment'],
      ['--reason <text>', 'why; goes on record'],
    ],
    names: { module: modulesInFault },
    examples: ['lineside fault reset xv105 --reason "limit switch was dirty"'],
    run: reset,
  },
];
