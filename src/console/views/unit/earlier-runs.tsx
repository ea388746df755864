/** What was run on a unit by hand, the newest first; one that has ended is reset from here, so that the unit is free for the next. */
import { useEffect, useState } from 'preact/hooks';
import { readRuns, type Run, type RunKind } from '../../data/by-hand.js';
import { Latest } from '../../data/latest.js';
import { units } from '../../data/plant.js';
import { can } from '../../data/session.js';
import type { Command } from '../../data/types.js';
import { ReadFault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { word, words } from '../../common/strings.js';
import { momentText } from '../../common/text.js';
import { CommandButton } from '../../plant/command-button.js';
import { StateBadge } from '../../plant/state-badge.js';
import { failureText } from '../../plant/told-words.js';
import { RunCommandDialog } from './run-strip.js';

const said = words({
  en: {
    earlier: 'Runs on this unit',
    noRuns: 'Nothing was run on it by hand yet.',
    older: 'Older ones are not shown.',
  },
  de: {
    earlier: 'Läufe auf dieser Teilanlage',
    noRuns: 'Darauf wurde noch nichts von Hand gefahren.',
    older: 'Ältere sind nicht gezeigt.',
  },
});

interface Found {
  readonly runs: readonly Run[];
  readonly hasOlder: boolean;
}

export function EarlierRuns({ unit, kinds }: { readonly unit: string; readonly kinds: Readonly<Record<RunKind, string>> }) {
  const [found, setFound] = useState<Found | null>(null);
  const [fault, setFault] = useState('');
  const [latest] = useState(() => new Latest());
  const [asked, setAsked] = useState<{ readonly run: Run; readonly command: Command } | null>(null);
  const state = units.value.find(({ name }) => name === unit)?.state;
  useEffect(() => {
    latest
      .read(
        () => readRuns(unit),
        (runs) => {
          setFound(runs);
          setFault('');
        },
      )
      .catch((refused: unknown) => setFault(faultText(refused)));
  }, [unit, state, asked]);
  useEffect(() => () => latest.forget(), [unit]);
  return (
    <section class="run-earlier" data-testid="run-earlier">
      <h3>{said.earlier}</h3>
      <ReadFault text={fault} />
      {found?.runs.length === 0 && <p class="hint">{said.noRuns}</p>}
      {(found?.runs.length ?? 0) > 0 && (
        <ul class="lines scroll" tabIndex={0} aria-label={said.earlier}>
          {found?.runs.map((run) => (
            <li class="line run-line" key={run.name}>
              <span class="line-name">
                {run.templateRef} <span class="hint">{kinds[run.kind]}</span> {run.failure && <span class="hint">{failureText(run.failure)}</span>}
              </span>
              <span class="number hint">{run.startedAt === '' ? '' : momentText(run.startedAt)}</span>
              <StateBadge state={run.state} />
              {can('command:send') && run.validCommands.includes('Reset') && (
                <CommandButton name={word('Reset')} onClick={() => setAsked({ run, command: 'Reset' })} testid="run-earlier-reset" />
              )}
            </li>
          ))}
        </ul>
      )}
      {found?.hasOlder && <p class="hint">{said.older}</p>}
      {asked && <RunCommandDialog run={asked.run} title={asked.run.templateRef} unit={unit} command={asked.command} onClose={() => setAsked(null)} />}
    </section>
  );
}
