/** The eight ISA-88 commands in one place that never moves; what is not valid now is grey (validCommands of the gateway). */
import { useState } from 'preact/hooks';
import { can } from '../data/session.js';
import { COMMANDS } from '../data/states.js';
import type { BatchDetail, Command } from '../data/types.js';
import { addressOf } from '../data/view.js';
import { t, word, words } from '../common/strings.js';
import { GreyButton, type Missing } from '../parts/grey-button.js';
import { CommandDialog } from './command-dialog.js';

const said = words({ en: { stillThere: 'still stands' }, de: { stillThere: 'steht noch an' } });

export function CommandBar({ batch }: { readonly batch: BatchDetail }) {
  const [asked, setAsked] = useState<Command | null>(null);
  const allowed = can('command:send');
  return (
    <>
      <div class="commands" data-jump="commands" data-testid="commands">
        {COMMANDS.map((command) => {
          const missing = allowed && !batch.validCommands.includes(command) ? missingFor(batch, command) : [];
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

/** What keeps a held batch from being restarted: failures that still stand, each with the way to it. Of a command that its state has no place for nothing is missing. */
function missingFor({ phase, heldInside, failure, furtherFailures = [] }: BatchDetail, command: Command): Missing[] {
  if (command !== 'Restart' || (phase !== 'Held' && !heldInside)) return [];
  const standing = [...(failure ? [failure] : []), ...furtherFailures].filter(({ active }) => active);
  return standing.map(({ rule, message }) => ({ text: `${message} – ${said.stillThere}`, ...(rule.includes('alarm') ? { href: addressOf('alarms'), way: t.alarms } : {}) }));
}
