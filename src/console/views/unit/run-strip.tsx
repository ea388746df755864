/** The run by hand that has the unit, with the commands it takes now; each asks once more, with a reason where policy wants one. */
import { useEffect, useState } from 'preact/hooks';
import { commandRun, readRun, RUN_KINDS, type RunKind } from '../../data/by-hand.js';
import { departuresOf } from '../../data/departures.js';
import { Latest } from '../../data/latest.js';
import { stale } from '../../data/plant.js';
import { can, config } from '../../data/session.js';
import { COMMANDS, needsReason } from '../../data/states.js';
import { everySecond } from '../../data/timers.js';
import type { Command, OverviewUnit, PhaseAtWork } from '../../data/types.js';
import { Dialog } from '../../common/dialog.js';
import { Fault } from '../../common/fault.js';
import { ReasonField, reasonLength } from '../../common/reason-field.js';
import { t, word, words } from '../../common/strings.js';
import { useSend } from '../../common/use-send.js';
import { CommandButton } from '../../plant/command-button.js';
import { rejectionText } from '../../plant/told-words.js';
import { StateBadge } from '../../plant/state-badge.js';

const said = words({
  en: { byHand: 'Run by hand', ask: (command: string, run: string) => `${command}: ${run}` },
  de: { byHand: 'Lauf von Hand', ask: (command: string, run: string) => `${command}: ${run}` },
});

export interface OwnRun {
  readonly kind: RunKind;
  readonly name: string;
}

/** Undefined while a batch has the unit, or nobody. */
function runOf({ activeWork }: OverviewUnit): OwnRun | undefined {
  if (!activeWork || activeWork.batchRef !== '') return undefined;
  const kind = RUN_KINDS.find((each) => each === activeWork.kind);
  return kind && { kind, name: activeWork.name };
}

/** Read again with each state of the unit, and each second: what it takes next is told by no channel. */
function useRun(run: OwnRun | undefined, state: string): PhaseAtWork | undefined {
  const [held, setHeld] = useState<PhaseAtWork | undefined>(undefined);
  useEffect(() => {
    setHeld(undefined);
    if (!run) return;
    const latest = new Latest();
    const look = async (): Promise<void> => {
      await latest.read(() => readRun(run), setHeld).catch(() => undefined); // the page says that nothing is read; the commands stay as they were
    };
    void look();
    const end = everySecond(async () => {
      if (!document.hidden) await look();
    });
    return () => {
      latest.forget();
      end();
    };
  }, [run?.kind, run?.name, state]);
  return held;
}

export function RunStrip({ unit }: { readonly unit: OverviewUnit }) {
  /** A question is about the run that was touched, and goes with it. */
  const [asked, setAsked] = useState<{ readonly command: Command; readonly run: string } | null>(null);
  const run = runOf(unit);
  const held = useRun(run, unit.state);
  if (!run) return null;
  const possible = can('command:send') ? COMMANDS.filter((command) => held?.validCommands.includes(command)) : [];
  return (
    <section class="run-strip" aria-label={said.byHand} data-jump="commands" data-testid="run-strip">
      <span>
        {said.byHand} <strong>{held?.templateRef ?? run.name}</strong> {held?.commandRejection && <span class="hint">{rejectionText(held.commandRejection)}</span>}
      </span>
      <StateBadge state={unit.state} />
      {possible.map((command) => (
        <CommandButton key={command} name={word(command)} onClick={() => setAsked({ command, run: run.name })} testid={`run-${command}`} />
      ))}
      {asked?.run === run.name && <RunCommandDialog run={run} unit={unit.name} command={asked.command} title={held?.templateRef ?? run.name} onClose={() => setAsked(null)} />}
    </section>
  );
}

export interface RunCommandProps {
  readonly run: OwnRun;
  readonly title: string;
  readonly unit: string;
  readonly command: Command;
  readonly onClose: () => void;
}

export function RunCommandDialog({ run, title, unit, command, onClose }: RunCommandProps) {
  const [reason, setReason] = useState('');
  const sending = useSend();
  const lengthMin = needsReason(command) ? (config.value?.reasonMinLength ?? 1) : 0;
  const along = command === 'Restart' || command === 'Resume' ? departuresOf([unit], new Set()) : [];
  const submit = (event: Event): void => {
    event.preventDefault();
    if (reasonLength(reason) < lengthMin) return sending.refuse(`${t.reason}: ${t.reasonNeeded(lengthMin)}`);
    void sending.run(async () => {
      await commandRun(run, command, reason.trim());
      onClose();
    });
  };
  return (
    <Dialog title={said.ask(word(command), title)} testid="run-command-dialog" onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <Fault text={sending.fault} code={sending.code} testid="run-command-error" />
        <ReasonField value={reason} onInput={setReason} lengthMin={lengthMin} lengthMax={config.value?.reasonMaxLength ?? 1024} suggestions={t.commonReasons} />
        {along.length > 0 && (
          <div class="warning">
            <strong>{t.goesOnWith}</strong>
            <ul>
              {along.map((text) => (
                <li key={text}>{text}</li>
              ))}
            </ul>
          </div>
        )}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            {t.cancel}
          </button>
          <button type="submit" class="button primary" disabled={sending.busy || stale.value} data-testid="run-command-send">
            {sending.busy ? t.sending : t.sendCommand(word(command))}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
