/**
 * What a lead operator does by hand to the chart of an element in Manual, said in plain words and signed (ADR 0007): a
 * transition is fired, a step is activated or deactivated. The dialog keeps the steps that were active when it opened: in
 * Manual nothing moves by itself, and what no longer fits is refused by the gateway.
 */
import { useState } from 'preact/hooks';
import { config } from '../../data/session.js';
import { type ChartChange, changeActiveStep, type SteeredElement } from '../../data/signatures.js';
import type { TransitionState } from '../../data/types.js';
import { Dialog } from '../../common/dialog.js';
import { t } from '../../common/strings.js';
import { SignDialog } from '../../plant/sign-dialog.js';

export type Steering =
  | { readonly element: SteeredElement; readonly item: TransitionState }
  /** A step that was touched, and those that were active then. */
  | { readonly element: SteeredElement; readonly step: string; readonly active: readonly string[] };

export function SteeringDialog({ steering, onClose }: { readonly steering: Steering; readonly onClose: () => void }) {
  if ('item' in steering) return <ForceDialog {...steering} onClose={onClose} />;
  const { step, active } = steering;
  if (!active.includes(step)) return <ActivateDialog {...steering} onClose={onClose} />;
  return active.length > 1 ? <DeactivateDialog {...steering} onClose={onClose} /> : <LastStep step={step} onClose={onClose} />;
}

interface ChangeDialogProps {
  readonly element: SteeredElement;
  readonly title: string;
  readonly change: ChartChange;
  readonly onClose: () => void;
  readonly children?: preact.ComponentChildren;
}

function ChangeDialog({ element, title, change, onClose, children }: ChangeDialogProps) {
  return (
    <SignDialog
      title={title}
      meanings={['active-step-change']}
      lengthMin={config.value?.reasonMinLength ?? 1}
      onSign={(_meaning, reason) => changeActiveStep(element, change, reason)}
      onClose={onClose}
    >
      {children}
    </SignDialog>
  );
}

function ForceDialog({ element, item: { fromStep, toStep, index }, onClose }: { readonly element: SteeredElement; readonly item: TransitionState; readonly onClose: () => void }) {
  const transition = `${fromStep}->${toStep}#${index}`;
  return <ChangeDialog element={element} title={`${t.forceTitle} ${fromStep} → ${toStep}`} change={{ change: 'force', transition }} onClose={onClose} />;
}

interface StepProps {
  readonly element: SteeredElement;
  readonly step: string;
  readonly active: readonly string[];
  readonly onClose: () => void;
}

/** Going on or back is one act: by default every active step is left in the same moment, so that nothing runs twice. */
function ActivateDialog({ element, step, active, onClose }: StepProps) {
  const [leave, setLeave] = useState(active);
  const toggle = (each: string): void => setLeave(leave.includes(each) ? leave.filter((kept) => kept !== each) : [...leave, each]);
  const stays = active.filter((each) => !leave.includes(each));
  return (
    <ChangeDialog element={element} title={`${t.stepActivate} ${step}`} change={{ change: 'activate', step, leave }} onClose={onClose}>
      <p class="note" data-testid="step-words">
        {(element.kind === 'Phase' ? t.stepActivateWords : t.elementActivateWords)(step, leave.join(', '), stays.join(', '))}
      </p>
      {active.length > 0 && (
        <div class="chips chips-line" role="group" aria-label={t.stepLeave}>
          <span class="field-label">{t.stepLeave}</span>
          {active.map((each) => (
            <button type="button" class="chip" key={each} aria-pressed={leave.includes(each)} onClick={() => toggle(each)} data-testid={`leave-${each}`}>
              {each}
            </button>
          ))}
        </div>
      )}
    </ChangeDialog>
  );
}

function DeactivateDialog({ element, step, active, onClose }: StepProps) {
  const stays = active.filter((each) => each !== step);
  return (
    <ChangeDialog element={element} title={`${t.stepDeactivate} ${step}`} change={{ change: 'deactivate', step }} onClose={onClose}>
      <p class="note" data-testid="step-words">
        {(element.kind === 'Phase' ? t.stepDeactivateWords : t.elementDeactivateWords)(step, stays.join(', '))}
      </p>
    </ChangeDialog>
  );
}

/** A chart without an active step would stand for ever; the gateway refuses that, so the way out is told first. */
function LastStep({ step, onClose }: { readonly step: string; readonly onClose: () => void }) {
  return (
    <Dialog title={`${t.step} ${step}`} testid="step-last" onClose={onClose}>
      <div class="stack">
        <p>{t.stepLast(step)}</p>
        <div class="dialog-actions">
          <button type="button" class="button primary" onClick={onClose} data-testid="step-last-close">
            {t.close}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
