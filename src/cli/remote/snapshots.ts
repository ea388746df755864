/** Snapshots of the configuration: what was before each apply, and the way back. */
import type { Selector } from '../../platform/store/selector.js';
import { toldOf } from './applied.js';
import { bring } from './bring.js';
import type { CommandContext, CommandRow } from './command.js';
import { timeoutOf } from './given.js';
import { CommandError, EXIT, type Outcome, table } from './outcome.js';

const WAIT_MS_DEFAULT = 60_000;
const NONE = 'there is no snapshot: one is taken before each apply that changes something';
const EVERYTHING: Selector = { isPositive: false, matches: () => true };
const WHY_KEPT = {
  first: 'nothing was changed, because not all could be removed that was not there then:',
  last: 'mend that or wait for it, and return then',
};

async function list({ box }: CommandContext): Promise<Outcome> {
  const snapshots = (await box.typed.all('/api/v1/snapshots', {})).toReversed();
  if (snapshots.length === 0) return { data: snapshots, text: NONE };
  const rows = snapshots.map(({ name, at, by, changeRequest, bytes }) => [name, at, changeRequest === undefined ? by : `${by} (change request ${changeRequest})`, String(bytes)]);
  return { data: snapshots, text: table(['name', 'before the apply of', 'by', 'bytes'], rows) };
}

async function returnTo(context: CommandContext): Promise<Outcome> {
  const {
    box,
    args: [snapshot = ''],
  } = context;
  const name = snapshot === 'latest' ? (await namesOf(context)).at(-1) : snapshot;
  if (name === undefined) throw new CommandError(EXIT.refused, 'not_found', NONE);
  return bring(context, {
    ask: ({ dryRun }) => box.typed.post('/api/v1/snapshots/{name}/return', { path: { name }, query: dryRun ? { dryRun: true } : {} }),
    chosen: EVERYTHING,
    warned: (_at, named, warning) => toldOf(named, warning),
    whyKept: WHY_KEPT,
    withinMs: timeoutOf(context) ?? WAIT_MS_DEFAULT,
  });
}

async function namesOf({ box }: CommandContext): Promise<readonly string[]> {
  return (await box.typed.all('/api/v1/snapshots', {})).map(({ name }) => name);
}

export const SNAPSHOT_COMMANDS: readonly CommandRow[] = [
  { typed: 'snapshot list', about: 'the snapshots that the box has kept, the newest first', run: list },
  {
    typed: 'snapshot return <snapshot>',
    about: 'bring the configuration back to what it was before an apply; latest is the newest snapshot. What was not there then is removed',
    options: [
      ['--dry-run', 'judge everything and tell what would change; store nothing'],
      ['--wait', 'until the units of the sites concerned run; exit code 1 where an I/O module that was changed is Failed'],
      ['--timeout <time>', `of --wait: seconds, or a duration such as 5m; ${WAIT_MS_DEFAULT / 1000} where it is left out`],
    ],
    examples: ['lineside snapshot return latest --dry-run', 'lineside snapshot return snapshot-000012 --wait'],
    names: { snapshot: namesOf },
    run: returnTo,
  },
];
