/** I/O modules that an apply has changed and that do not work: all their channels are Bad, and the units that read them run all the same. */
import { type Applied, titleOf } from './applied.js';
import type { CommandContext } from './command.js';
import { CommandError, EXIT } from './outcome.js';
import { until } from './until.js';

/** A probe that runs judges what it is given within this time; what it said before is of what stood there before. */
const JUDGED_WITHIN_MS = 1000;
/** One that is started takes longer; a device that does not answer keeps nobody waiting. */
const PENDING_MS_MAX = 5000;

interface Wait {
  /** On the clock of this process. */
  readonly appliedAt: number;
  readonly withinMs: number;
}

interface FailedModule {
  readonly site: string;
  readonly name: string;
  readonly message: string;
}

/** @throws CommandError with each of them and its message. */
export async function refuseFailed({ box, terminal }: CommandContext, done: readonly Applied[], { appliedAt, withinMs }: Wait): Promise<void> {
  const changed = done.filter(({ operation }) => operation !== 'unchanged');
  const concerns = (kind: string, site: string, name: string): boolean => changed.some((each) => each.kind === kind && each.namespace === `site-${site}` && each.name === name);
  const sites = new Set(changed.flatMap(({ kind, namespace }) => (kind === 'IOModule' || kind === 'SimulationPreset' ? [namespace.replace(/^site-/, '')] : [])));
  const failed: FailedModule[] = [];
  for (const site of sites) {
    const found = await until({
      look: async () => {
        const all = await box.typed.all('/api/v1/sites/{site}/iomodules', { path: { site }, options: { background: true } });
        const own = all.filter(({ name, simulation }) => concerns('IOModule', site, name) || concerns('SimulationPreset', site, simulation.preset));
        const sinceMs = performance.now() - appliedAt;
        const isPending = own.some(({ state, enabled }) => enabled && state === 'Pending');
        if (sinceMs < JUDGED_WITHIN_MS || (isPending && sinceMs < PENDING_MS_MAX)) return undefined;
        return own.flatMap(({ name, state, message }): readonly FailedModule[] => (state === 'Failed' ? [{ site, name, message }] : []));
      },
      withinMs: withinMs + PENDING_MS_MAX,
      late: () => new CommandError(EXIT.no, 'not_ready', `applied, but the I/O modules of ${site} could not be looked at`, { site }),
      terminal,
    });
    failed.push(...found);
  }
  if (failed.length === 0) return;
  const lines = failed.map(({ site, name, message }) => `${titleOf({ kind: 'IOModule', namespace: `site-${site}`, name })} is Failed: ${message}`);
  throw new CommandError(EXIT.no, 'module_failed', [`applied, but ${failed.length === 1 ? 'an I/O module does' : 'I/O modules do'} not work:`, ...lines].join('\n'), {
    modules: failed,
  });
}
