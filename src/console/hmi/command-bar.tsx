/** The eight ISA-88 commands in one place that never moves; what is not valid now is grey (validCommands of the gateway). */
import { useState } from 'preact/hooks';
import { can } from '../data/session.js';
import { COMMANDS } from '../data/states.js';
import type { BatchDetail, Command } from '../data/types.js';
import { t, word } from '../common/strings.js';
import { CommandDialog } from './command-dialog.js';

export function CommandBar({ batch }: { readonly batch: BatchDetail }) {
  const [asked, setAsked] = useState<Command | null>(null);
  const allowed = can('command:send');
  return (
    <>
      <div class="commands" data-testid="commands">
        {COMMANDS.map((command) => (
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
        ))}
      </div>
      {!allowed && <p class="hint">{t.commandNotAllowed}</p>}
      {asked && <CommandDialog key={`${batch.name} ${asked}`} batch={batch} command={asked} onClose={() => setAsked(null)} />}
    </>
  );
}
