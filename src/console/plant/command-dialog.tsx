/** One question before each command: the reason where policy asks for it, the pre-flight before a Start. */
import { useState } from 'preact/hooks';
import { command as send, type Preflight, preflight } from '../data/batch.js';
import { takenOver } from '../data/departures.js';
import { modules, stale } from '../data/plant.js';
import { config } from '../data/session.js';
import { needsReason } from '../data/states.js';
import { isStop, type PreflightCheck } from '../data/to-do.js';
import type { BatchDetail, Command } from '../data/types.js';
import { Dialog } from '../common/dialog.js';
import { FactList } from '../common/fact-list.js';
import { Fault } from '../common/fault.js';
import { ReasonField, reasonLength } from '../common/reason-field.js';
import { t, word, words } from '../common/strings.js';
import { recordText, unitText } from '../common/text.js';
import { useAsked } from '../common/use-asked.js';
import { useSend } from '../common/use-send.js';
import type { GoingOnCommand } from '../data/going-on.js';
import { checkText, checkTexts } from './check-text.js';
import { linkWords } from './command-button.js';

const said = words({ en: { formula: 'Formula', lot: 'Lot' }, de: { formula: 'Formel', lot: 'Los' } });

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
    if (stale.peek()) return sending.refuse(linkWords.noLink);
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
        <Fault text={sending.fault} code={sending.code} testid="command-error" />
        {command === 'Start' ? (
          <StartOf batch={batch} />
        ) : (
          <ReasonField value={reason} onInput={setReason} lengthMin={lengthMin} lengthMax={config.value?.reasonMaxLength ?? 1024} suggestions={t.commonReasons} />
        )}
        {(command === 'Restart' || command === 'Resume') && <GoingOnChecks batch={batch.name} command={command} />}
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

/** What a command goes on with, although the recipe does not want it so. */
function GoesOnWith({ title, found }: { readonly title: string; readonly found: readonly string[] }) {
  if (found.length === 0) return null;
  return (
    <div class="warning" data-testid="departures">
      <p>
        <strong>{title}</strong>
      </p>
      <ul>
        {found.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </div>
  );
}

/** What stands against a command. */
function Stops({ title, stops, testid }: { readonly title: string; readonly stops: readonly PreflightCheck[]; readonly testid: string }) {
  if (stops.length === 0) return null;
  return (
    <div class="warning" data-testid={testid}>
      <p>
        <strong>{title}</strong>
      </p>
      <ul>
        {stops.map((stop) => (
          <li key={stop.message}>
            {checkText(stop)} {stop.liftedBy && !stop.told && <span class="hint">{stop.liftedBy.action}</span>}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Modules whose mode is told by the gateway. */
function modesOf(told: readonly PreflightCheck[]): string[] {
  return told.filter(({ check }) => check === 'modes').map(({ element }) => element);
}

const isWarning = ({ severity }: PreflightCheck): boolean => severity === 'warning';

/** Why the gateway could not be asked, in words; null while it is asked. */
function usePreflight(batch: string, command: 'Start' | GoingOnCommand): Preflight | string | null {
  return useAsked(() => preflight(batch, command), `${command} ${batch}`, modesNow());
}

/** Whoever puts a module right, or takes one, while it is asked sees that. */
function modesNow(): string {
  return [...modules.value.values()].map(({ name, mode }) => `${name} ${mode}`).join();
}

/** What would hold the batch again at once is told apart from what it goes on with: the same judgement as that of the list (to-go-on.tsx). */
function GoingOnChecks({ batch, command }: { readonly batch: string; readonly command: GoingOnCommand }) {
  const found = usePreflight(batch, command);
  if (found === null) return <p class="hint">{t.startChecking}</p>;
  if (typeof found === 'string') return <Unknown why={found} />;
  return (
    <>
      <Stops title={t.goingOnStops(word(command))} stops={found.problems.filter(isStop)} testid="restart-stops" />
      <GoesOnWith title={t.goesOnWith} found={checkTexts(found.problems.filter(isWarning))} />
    </>
  );
}

/** What is about to run, by the names that people know: nobody starts a batch by its number alone. */
function StartOf({ batch }: { readonly batch: BatchDetail }) {
  const { recipe, spec, quantity, engineeringUnit } = batch;
  return (
    <>
      <div data-testid="start-what">
        <FactList
          facts={[
            [t.recipe, `${recipe.name} ${recipe.version}`],
            [said.formula, spec.formulaName],
            [t.quantity, quantity === '' ? '' : `${recordText(quantity, true)} ${unitText(engineeringUnit)}`],
            [said.lot, spec.lotID],
            ...spec.parameters.map(({ name, value }): readonly [string, string] => [name, recordText(value, false)]),
          ]}
        />
      </div>
      <StartChecks batch={batch.name} />
    </>
  );
}

/**
 * What the gateway would reject now; the Start stays possible, since the controller judges it later. What it warns of, and what people
 * have in their hands on the units that the batch would take, keeps it from nothing and is told apart.
 */
function StartChecks({ batch }: { readonly batch: string }) {
  const found = usePreflight(batch, 'Start');
  if (found === null) return <p class="hint">{t.startChecking}</p>;
  if (typeof found === 'string') return <Unknown why={found} />;
  const stops = found.problems.filter(isStop);
  const warnings = [...new Set([...checkTexts(found.problems.filter(isWarning)), ...takenOver(found.units, new Set(modesOf(found.problems)))])];
  return (
    <>
      <FactList facts={[[t.units, found.units.map((unit) => unit.toUpperCase()).join(', ')]]} />
      <Stops title={t.startProblems} stops={stops} testid="start-stops" />
      {stops.length === 0 && <p class="note">{t.startChecks}</p>}
      <GoesOnWith title={t.startsWith} found={warnings} />
    </>
  );
}

/** Nobody takes a question that failed for an answer that nothing is in the way. */
function Unknown({ why }: { readonly why: string }) {
  return (
    <p class="warning" data-testid="checks-unknown">
      {t.checksUnknown} {why}
    </p>
  );
}
