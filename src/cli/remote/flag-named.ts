/** A refusal speaks of members of a request; whoever types has options for them. */
import type { CommandRow } from './command.js';
import { CommandError } from './outcome.js';

/** By code: the option, and how it is given. */
const FLAGS: Readonly<Record<string, readonly [flag: string, way: string]>> = {
  reason_too_short: ['--reason', 'give it with --reason "..."'],
  fail_safe_not_acknowledged: ['--acknowledge-fail-safe', 'at the command line it is --acknowledge-fail-safe'],
};

export function flagNamed(failure: CommandError, { options = [] }: Pick<CommandRow, 'options'>): CommandError {
  const [flag, way] = FLAGS[failure.told.code] ?? [];
  if (flag === undefined || way === undefined || !options.some(([flags]) => flags.split(' ')[0] === flag)) return failure;
  const { message, code, ...more } = failure.told;
  return new CommandError(failure.exitCode, code, `${message}; ${way}`, more);
}
