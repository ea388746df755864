/** One question before each command: the reason where policy asks for it, the pre-flight before a Start. */
import { useEffect, useState } from 'preact/hooks';
import { command as send, type PreflightCheck, preflight } from '../data/batch.js';
import { departuresOf } from '../data/departures.js';
import { modules } from '../data/plant.js';
import { config } from '../data/session.js';
import { needsReason } from '../data/states.js';
import type { BatchDetail, Command } from '../data/types.js';
import { Dialog } from '../common/dialog.js';
import { Fault } from '../common/fault.js';
import { ReasonField, reasonLength } from '../common/reason-field.js';
import { t, word } from '../common/strings.js';
import { useSend } from '../common/use-send.js';

const NONE: ReadonlySet<string> = new Set();
const GOES_ON: readonly Command[] = ['Start', 'Restart', 'Resume'];

export interface CommandDialogProps {
  readonly batch: BatchDetail;
  readonly command: Command;
  readonly onClose: () => void;
}

export function CommandDialog({ batch, command, onClose }: CommandDialogProps) {
  const [reason, setReason] = useState('');
  const sending = useSend();
  const lengthMin = needsReason(command) ? (config.value?.reasonMinLength ?? 1) : 0;
  const submit = (event: Event): void => {
    event.preventDefault();
    if (reasonLength(reason) < lengthMin) return sending.refuse(`${t.reason}: ${t.reasonNeeded(lengthMin)}`);
    void sending.run(async () => {
      await send(batch.name, command, reason.trim());
      onClose();
    });
  };
  const title = command === 'Start' ? t.startBatch(batch.batchID) : t.commandBatch(word(command), batch.batchID);
  return (
    <Dialog title={title} testid="command-dialog" onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <Fault text={sending.fault} testid="command-error" />
        {command === 'Start' ? (
          <StartChecks batch={batch.name} />
        ) : (
          <ReasonField value={reason} onInput={setReason} lengthMin={lengthMin} lengthMax={config.value?.reasonMaxLength ?? 1024} suggestions={t.commonReasons} />
        )}
        {command === 'Restart' ? <RestartChecks batch={batch} /> : GOES_ON.includes(command) && <Departures units={batch.units} />}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose} data-testid="command-cancel">
            {t.cancel}
          </button>
          <button type="submit" class="button primary" disabled={sending.busy} data-testid="command-send">
            {sending.busy ? t.sending : t.sendCommand(word(command))}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** What the batch goes on with, although the recipe does not want it so. */
function Departures({ units, told = [], except = NONE }: { readonly units: readonly string[]; readonly told?: readonly PreflightCheck[]; readonly except?: ReadonlySet<string> }) {
  const found = [...told.map(({ message }) => message), ...departuresOf(units, new Set([...except, ...modesOf(told)]))];
  if (found.length === 0) return null;
  return (
    <div class="warning" data-testid="departures">
      <p>
        <strong>{t.goesOnWith}</strong>
      </p>
      <ul>
        {found.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </div>
  );
}

/** Modules whose mode is told by the gateway. */
function modesOf(told: readonly PreflightCheck[]): string[] {
  return told.filter(({ check }) => check === 'modes').map(({ element }) => element);
}

/** What would hold the batch again at once is told apart from what it goes on with. */
function RestartChecks({ batch: { name, units } }: { readonly batch: BatchDetail }) {
  const [problems, setProblems] = useState<readonly PreflightCheck[] | null>(null);
  // whoever puts a module right while it is asked sees that
  const modes = [...modules.value.values()].map(({ name: module, mode }) => `${module} ${mode}`).join();
  useEffect(() => {
    preflight(name, 'Restart').then(setProblems, () => setProblems([]));
  }, [name, modes]);
  if (problems === null) return <p class="hint">{t.startChecking}</p>;
  const stops = problems.filter(({ severity }) => severity === 'error');
  return (
    <>
      {stops.length > 0 && (
        <div class="warning" data-testid="restart-stops">
          <p>
            <strong>{t.restartStops}</strong>
          </p>
          <ul>
            {stops.map(({ message, liftedBy }) => (
              <li key={message}>
                {message} {liftedBy && <span class="hint">{liftedBy.action}</span>}
              </li>
            ))}
          </ul>
        </div>
      )}
      <Departures units={units} told={problems.filter((problem) => problem.severity === 'warning')} except={new Set(modesOf(stops))} />
    </>
  );
}

/** What the gateway would reject now; the Start stays possible, since the controller judges it later. */
function StartChecks({ batch }: { readonly batch: string }) {
  const [problems, setProblems] = useState<readonly PreflightCheck[] | null>(null);
  useEffect(() => {
    preflight(batch).then(setProblems, () => setProblems([]));
  }, [batch]);
  if (problems === null) return <p class="hint">{t.startChecking}</p>;
  if (problems.length === 0) return <p class="note">{t.startChecks}</p>;
  return (
    <div class="warning">
      <p>
        <strong>{t.startProblems}</strong>
      </p>
      <ul>
        {problems.map((problem) => (
          <li key={problem.check}>{problem.message}</li>
        ))}
      </ul>
    </div>
  );
}
