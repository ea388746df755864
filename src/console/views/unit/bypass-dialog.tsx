/**
 * An interlock is bypassed in two steps: which, why and how long; then, in plain words, what no longer stops the equipment.
 * The gateway judges the permission, the reason and the longest time (contract 3, Additional routes; decisions Q-CHANGE-12).
 */
import { useState } from 'preact/hooks';
import type { InterlockCondition } from '../../data/interlock.js';
import { bypassInterlocks, endBypass } from '../../data/modules.js';
import { readModules, stale } from '../../data/plant.js';
import { config } from '../../data/session.js';
import type { ModuleInfo } from '../../data/types.js';
import { Chips } from '../../common/chips.js';
import { nowMs } from '../../common/clock.js';
import { Dialog } from '../../common/dialog.js';
import { Fault } from '../../common/fault.js';
import { ReasonField, reasonLength } from '../../common/reason-field.js';
import { t } from '../../common/strings.js';
import { durationText, momentText } from '../../common/text.js';
import { useSend } from '../../common/use-send.js';
import { ConditionLine } from '../../plant/condition-line.js';

const DURATIONS = { '15m': 15, '30m': 30, '1h': 60, '4h': 240, '8h': 480 } as const;
type Duration = keyof typeof DURATIONS;
const DURATION_NAMES = Object.keys(DURATIONS) as Duration[];
const MINUTE_MS = 60_000;

export interface BypassDialogProps {
  readonly module: ModuleInfo;
  readonly conditions: readonly InterlockCondition[];
  readonly onClose: () => void;
}

export function BypassDialog({ module, conditions, onClose }: BypassDialogProps) {
  const blocks = [...new Set(conditions.map(({ block }) => block))];
  const [chosen, setChosen] = useState<readonly string[]>(blocks);
  const [duration, setDuration] = useState<Duration>('30m');
  const [reason, setReason] = useState('');
  const [asked, setAsked] = useState(false);
  const sending = useSend();
  const lengthMin = config.value?.reasonMinLength ?? 1;
  const submit = (event: Event): void => {
    event.preventDefault();
    if (!asked) {
      const fault = chosen.length === 0 ? `${t.interlocks}: ${t.choose}` : reasonLength(reason) < lengthMin ? `${t.reason}: ${t.reasonNeeded(lengthMin)}` : '';
      sending.refuse(fault);
      setAsked(fault === '');
      return;
    }
    void sending.run(async () => {
      await bypassInterlocks(module.name, { reason: reason.trim(), duration, interlocks: chosen.length === blocks.length ? undefined : chosen });
      await readModules();
      onClose();
    });
  };
  const concerned = conditions.filter(({ block }) => chosen.includes(block));
  return (
    <Dialog title={t.bypassTitle(module.name.toUpperCase())} testid="bypass-dialog" wide onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <Fault text={sending.fault} code={sending.code} testid="bypass-error" />
        {asked ? (
          <div class="stack" data-testid="bypass-confirm">
            <p class="warning">
              <strong>{t.bypassWords(nameOf(module), momentText(new Date(nowMs.value + DURATIONS[duration] * MINUTE_MS).toISOString()))}</strong>
            </p>
            <Conditions items={concerned} />
            <p>
              {t.reason}: {reason.trim()}
            </p>
            <p class="hint">{t.bypassRecorded}</p>
          </div>
        ) : (
          <>
            {blocks.length > 1 ? <Choice blocks={blocks} conditions={conditions} chosen={chosen} onChoose={setChosen} /> : <Conditions items={concerned} />}
            <div class="field">
              <span class="field-label">{t.duration}</span>
              <Chips label={t.duration} value={duration} options={DURATION_NAMES.map((each) => [each, durationText(each)])} onChoose={setDuration} testid="bypass-for" />
            </div>
            <ReasonField value={reason} onInput={setReason} lengthMin={lengthMin} lengthMax={config.value?.reasonMaxLength ?? 1024} suggestions={t.bypassReasons} />
          </>
        )}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={asked ? () => setAsked(false) : onClose} data-testid="bypass-back">
            {asked ? t.back : t.cancel}
          </button>
          <button type="submit" class="button primary" disabled={sending.busy || stale.value} data-testid="bypass-send">
            {sending.busy ? t.sending : asked ? t.bypassNow : t.next}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** What acts again is shown with its present values: what is not met now trips the equipment at once. */
export function EndBypassDialog({ module, conditions, onClose }: BypassDialogProps) {
  const [reason, setReason] = useState('');
  const sending = useSend();
  const { interlocks } = module.interlockBypass;
  const concerned = conditions.filter(({ block }) => interlocks.includes(block));
  const submit = (event: Event): void => {
    event.preventDefault();
    void sending.run(async () => {
      await endBypass(module.name, reason.trim());
      await readModules();
      onClose();
    });
  };
  return (
    <Dialog title={t.bypassEndTitle(module.name.toUpperCase())} testid="bypass-end-dialog" wide onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <Fault text={sending.fault} code={sending.code} testid="bypass-error" />
        <p>{t.bypassEndWords(nameOf(module))}</p>
        {concerned.some(({ ok }) => !ok) && (
          <p class="warning" data-testid="bypass-end-trips">
            {t.bypassEndTrips}
          </p>
        )}
        <Conditions items={concerned} />
        <ReasonField value={reason} onInput={setReason} lengthMin={0} lengthMax={config.value?.reasonMaxLength ?? 1024} suggestions={t.bypassEndReasons} />
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            {t.cancel}
          </button>
          <button type="submit" class="button primary" disabled={sending.busy || stale.value} data-testid="bypass-end-send">
            {sending.busy ? t.sending : t.bypassEnd}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function nameOf({ name, description }: ModuleInfo): string {
  return description === '' ? name.toUpperCase() : `${name.toUpperCase()} (${description})`;
}

function Conditions({ items }: { readonly items: readonly InterlockCondition[] }) {
  return (
    <ul class="note">
      {items.map((condition) => (
        <ConditionLine key={condition.text + condition.because.join()} condition={condition} />
      ))}
    </ul>
  );
}

interface ChoiceProps {
  readonly blocks: readonly string[];
  readonly conditions: readonly InterlockCondition[];
  readonly chosen: readonly string[];
  readonly onChoose: (chosen: readonly string[]) => void;
}

/** Several interlocks: only what has to be bypassed is. */
function Choice({ blocks, conditions, chosen, onChoose }: ChoiceProps) {
  const toggle = (block: string): void => onChoose(chosen.includes(block) ? chosen.filter((each) => each !== block) : [...chosen, block]);
  return (
    <div class="choices" role="group" aria-label={t.interlocks}>
      {blocks.map((block) => (
        <button type="button" role="checkbox" class="row" aria-checked={chosen.includes(block)} key={block} onClick={() => toggle(block)} data-testid={`bypass-block-${block}`}>
          <span>
            <span aria-hidden="true">{chosen.includes(block) ? '☑' : '☐'}</span> <strong>{block}</strong>{' '}
            {conditions
              .filter((condition) => condition.block === block)
              .map(({ text, because }) => text || because.join(', '))
              .join(' · ')}
          </span>
        </button>
      ))}
    </div>
  );
}
