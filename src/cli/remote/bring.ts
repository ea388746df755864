/** Brings the box to what manifests say, and removes what stands in none of them where that is wished: what apply and the return to a snapshot have in common. */
import type { Selector } from '../../platform/store/selector.js';
import { type Applied, type Named, namedOf, titleOf, toldOf } from './applied.js';
import type { CommandContext } from './command.js';
import { refuseFailed } from './failed-modules.js';
import { CommandError, EXIT, type Outcome } from './outcome.js';
import { asRead, keptLine, refuseKept, refuseOdd, removeAll, staleOf, type WhyKept, wouldStay } from './prune.js';
import { until } from './until.js';

const WARNINGS_SHOWN = 10;

export const count = (n: number, word: string): string => `${n} ${word}${n === 1 ? '' : 's'}`;

export interface Brought {
  /** What the box says to the manifests. */
  readonly ask: (query: { readonly dryRun: boolean }) => Promise<readonly Applied[]>;
  /** What is removed afterwards, of that which stands in no manifest; undefined where nothing is. */
  readonly chosen: Selector | undefined;
  /** The line of a warning about the manifest with that number. */
  readonly warned: (at: number, named: Named, warning: string) => string;
  readonly whyKept: WhyKept;
  /** For `--wait`. */
  readonly withinMs: number;
}

export async function bring(context: CommandContext, { ask, chosen, warned, whyKept, withinMs }: Brought): Promise<Outcome> {
  const { options, terminal, box } = context;
  const dryRun = options.dryRun === true;
  // what is removed is known, and would be by what the box says, before anything is changed
  const looked = dryRun || chosen ? await ask({ dryRun: true }) : [];
  const found = looked.filter(({ operation }) => operation === 'removed').map(staleOf);
  if (!dryRun) refuseOdd(found);
  const stale = dryRun || !chosen ? found : await asRead(box, chosen, found);
  if (!dryRun) refuseKept(stale, whyKept);
  const done = dryRun ? looked.filter(({ operation }) => operation !== 'removed') : await ask({ dryRun: false });
  const warnings = [
    ...done.flatMap((each, at) => each.warnings.map((warning) => warned(at, each, warning))),
    ...found.flatMap((each) => each.warnings.map((warning) => toldOf(each, warning))),
  ];
  for (const warning of warnings.slice(0, WARNINGS_SHOWN)) terminal.say(warning);
  if (warnings.length > WARNINGS_SHOWN) terminal.say(`${warnings.length - WARNINGS_SHOWN} more warnings; -o json has them all`);
  const kept = dryRun ? stale.filter(({ refused }) => refused) : [];
  const removed = dryRun ? stale.filter(({ refused }) => !refused) : await removeAll(box, stale, done);
  if (options.wait === true && !dryRun) {
    const appliedAt = performance.now();
    await waitForUnits(context, done, withinMs);
    await refuseFailed(context, done, { appliedAt, withinMs });
  }
  const changed = done.filter(({ operation }) => operation !== 'unchanged');
  const lines = [
    ...changed.map((each) => `${dryRun ? 'would be ' : ''}${each.operation}  ${titleOf(each)}`),
    ...removed.map((each) => `${dryRun ? 'would be ' : ''}removed  ${titleOf(each)}`),
    ...kept.map(keptLine),
    `${count(changed.length, 'change')}, ${done.length - changed.length} unchanged${chosen ? `, ${removed.length} removed` : ''}${kept.length === 0 ? '' : `, ${kept.length} not removed`}${dryRun ? ' (dry run: nothing was stored)' : ''}`,
  ];
  const warningsOf = new Map(found.map((each) => [titleOf(each), each.warnings]));
  const data = { dryRun, manifests: done, removed: removed.map((each) => ({ ...namedOf(each), warnings: warningsOf.get(titleOf(each)) ?? [] })) };
  if (kept.length > 0) throw wouldStay(kept, lines, data);
  return { data, text: lines.join('\n') };
}

async function waitForUnits({ box, terminal }: CommandContext, done: readonly Applied[], withinMs: number): Promise<void> {
  const sites = [...new Set(done.map(({ kind, namespace, name }) => (kind === 'Site' ? name : namespace.replace(/^site-/, ''))))].filter((site) => site !== '');
  const begun = performance.now();
  for (const site of sites) {
    let waiting: readonly string[] = [];
    await until({
      look: async () => {
        const units = await box.typed.all('/api/v1/sites/{site}/units', { path: { site }, options: { background: true } });
        waiting = units.filter(({ runtimeReady }) => !runtimeReady).map(({ name }) => name);
        return waiting.length === 0 ? true : undefined;
      },
      withinMs: withinMs - (performance.now() - begun),
      late: () => {
        const message = `applied, but ${waiting.join(', ')} of ${site} ${waiting.length === 1 ? 'does' : 'do'} not run within ${withinMs / 1000} s: lineside describe unit ${waiting[0]}`;
        return new CommandError(EXIT.no, 'not_ready', message, { site, units: waiting });
      },
      terminal,
    });
  }
}
