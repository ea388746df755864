/** The eight ISA-88 commands in one place that never moves; what is not valid now is grey (validCommands of the gateway). */
import { useEffect, useState } from 'preact/hooks';
import { goingOn, watchGoingOn, wayOn } from '../data/going-on.js';
import { can } from '../data/session.js';
import { COMMANDS } from '../data/states.js';
import type { BatchDetail, Command } from '../data/types.js';
import { addressOf } from '../data/view.js';
import { t, word, words } from '../common/strings.js';
import { GreyButton, type Missing } from '../parts/grey-button.js';
import { CommandDialog } from './command-dialog.js';
import { failureText } from './told-words.js';
import { missingOf } from './to-do-words.js';

const said = words({ en: { stillThere: 'still stands' }, de: { stillThere: 'steht noch an' } });

export function CommandBar({ batch }: { readonly batch: BatchDetail }) {
  const [asked, setAsked] = useState<Command | null>(null);
  const allowed = can('command:send');
  useEffect(() => watchGoingOn(), []);
  return (
    <>
      <div class="commands" data-jump="commands" data-testid="commands">
        {COMMANDS.map((command) => {
          const missing = allowed ? missingFor(batch, command) : [];
          if (missing.length > 0) return <GreyButton key={command} name={word(command)} missing={missing} testid={`command-${command}`} />;
          return (
            <button
              type="button"
              class="button"
              key={command}
              disabled={!allowed || !batch.validCommands.includes(command)}
              onClick={() => setAsked(command)}
              data-testid={`command-${command}`}
            >
              {word(command)}
            </button>
          );
        })}
      </div>
      {!allowed && <p class="hint">{t.commandNotAllowed}</p>}
      {asked && <CommandDialog key={`${batch.name} ${asked}`} batch={batch} command={asked} onClose={() => setAsked(null)} />}
    </>
  );
}

/** Something stands against the command by which a batch that stands goes on. */
export function isStopped(batch: BatchDetail): boolean {
  const way = wayOn(batch);
  return way !== undefined && missingFor(batch, way).length > 0;
}

/** What stands against going on, as the list of it and the dialog say it: by the gateway. Until it has answered, the failures that still stand. Of a command that its state has no place for nothing is missing. */
function missingFor(batch: BatchDetail, command: Command): Missing[] {
  const found = goingOn.value;
  if (found?.batch === batch.name && found.command === command) return found.list.filter(({ isNeeded, isDone }) => isNeeded && !isDone).map(missingOf);
  const { phase, heldInside, failure, furtherFailures = [], validCommands } = batch;
  if (command !== 'Restart' || validCommands.includes(command) || (phase !== 'Held' && !heldInside)) return [];
  const standing = [...(failure ? [failure] : []), ...furtherFailures].filter(({ active }) => active);
  return standing.map((failure) => ({
    text: `${failureText(failure)} – ${said.stillThere}`,
    ...(failure.rule === 'alarm-exception' ? { href: addressOf('alarms'), way: t.alarms } : {}),
  }));
}
