/**
 * What raises an alarm on a module: its alarm definitions, and the limits that its own logic watches. The threshold of a definition is changed by who
 * may, in two steps; the gateway refuses it while the equipment executes.
 */
import { useState } from 'preact/hooks';
import { changeThreshold } from '../../data/alarm-limits.js';
import { tagNamed } from '../../data/module-tags.js';
import { definitions, stale, tagList } from '../../data/plant.js';
import { can } from '../../data/session.js';
import { limitsOfLogic } from '../../data/switch-limits.js';
import type { AlarmDefinition, ModuleInfo } from '../../data/types.js';
import { Dialog } from '../../common/dialog.js';
import { Fault } from '../../common/fault.js';
import { t, word, words } from '../../common/strings.js';
import { recordText, typedNumber, unitText } from '../../common/text.js';
import { useSend } from '../../common/use-send.js';
import { SeverityBadge } from '../../parts/badge.js';
import { CommandButton } from '../../plant/command-button.js';
import { Keypad } from '../../plant/keypad.js';

const said = words({
  en: {
    none: 'No alarm is defined on this module.',
    logic: 'Watched by its logic',
    byTemplate: 'by its template',
    armed: 'armed',
    notArmed: 'not armed now',
    gated: (phase: string) => `while ${phase} runs`,
    action: (action: string) => `asks for ${action}`,
    change: 'Change',
    title: (name: string) => `Limit of ${name}`,
    now: 'Change the limit',
  },
  de: {
    none: 'An diesem Modul ist kein Alarm definiert.',
    logic: 'Von seiner Logik überwacht',
    byTemplate: 'durch seine Vorlage',
    armed: 'scharf',
    notArmed: 'jetzt nicht scharf',
    gated: (phase: string) => `während ${phase} läuft`,
    action: (action: string) => `verlangt ${action}`,
    change: 'Ändern',
    title: (name: string) => `Grenze von ${name}`,
    now: 'Grenze ändern',
  },
});

/** What the limits of its own logic are compared with. */
const MEASURED = 'pv';

export function Limits({ module }: { readonly module: ModuleInfo }) {
  const [name, setName] = useState('');
  const own = definitions.value.filter(({ sourceKind, sourceName }) => sourceKind === 'ControlModule' && sourceName === module.name);
  const chosen = own.find((each) => each.name === name);
  const unitOf = (tag: string): string => unitText(tagNamed(module.name, tag, tagList.value)?.engUnits ?? '');
  const limitText = (value: string, tag: string): string => `${recordText(value, true)} ${unitOf(tag)}`.trim();
  const logic = limitsOfLogic(module);
  return (
    <div class="stack" data-testid="limits">
      {own.length === 0 && <p class="hint">{said.none}</p>}
      <ul class="lines">
        {own.map((definition) => (
          <li class="line" key={definition.name} data-testid={`limit-${definition.name}`}>
            <span class="line-name">
              <SeverityBadge severity={definition.severity} past hasWord={false} /> {definition.message || definition.name}
              <span class="hint"> {[t.conditions[definition.conditionType] ?? definition.conditionType, armedText(definition)].join(', ')}</span>
            </span>
            <span class="line-value number">{definition.threshold === '' ? definition.stateValue : limitText(definition.threshold, definition.tagName)}</span>
            {can('alarmdefinition:update') && definition.threshold !== '' && (
              <CommandButton name={said.change} onClick={() => setName(definition.name)} testid={`limit-change-${definition.name}`} />
            )}
          </li>
        ))}
      </ul>
      {logic.length > 0 && (
        <>
          <h4 class="hint">{said.logic}</h4>
          <ul class="lines" data-testid="logic-limits">
            {logic.map(({ tag, word: name_, text }) => (
              <li class="line" key={tag}>
                <span class="line-name">{name_}</span>
                <span class="line-value number">{text === '' ? said.byTemplate : limitText(text, MEASURED)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
      {chosen && <LimitDialog definition={chosen} unit={unitOf(chosen.tagName)} onClose={() => setName('')} />}
    </div>
  );
}

function armedText({ armed, gatedBy, exceptionAction }: AlarmDefinition): string {
  const when = gatedBy === '' ? (armed ? said.armed : said.notArmed) : `${said.gated(gatedBy.replace(/^.*\//, ''))}, ${armed ? said.armed : said.notArmed}`;
  return exceptionAction === '' ? when : `${when}, ${said.action(word(exceptionAction))}`;
}

function LimitDialog({ definition, unit, onClose }: { readonly definition: AlarmDefinition; readonly unit: string; readonly onClose: () => void }) {
  const [entered, setEntered] = useState('');
  const [confirmed, setConfirmed] = useState('');
  const [from, setFrom] = useState('');
  const sending = useSend();
  const before = `${recordText(definition.threshold, true)} ${unit}`.trim();
  const submit = (event: Event): void => {
    event.preventDefault();
    if (confirmed === '') {
      const text = typedNumber(entered);
      sending.refuse(text === undefined ? t.notNumber : '');
      if (text !== undefined) setConfirmed(text);
      setFrom(definition.threshold);
      return;
    }
    void sending.run(async () => {
      await changeThreshold(definition.name, confirmed, from);
      onClose();
    });
  };
  return (
    <Dialog title={said.title(definition.message || definition.name)} testid="limit-dialog" wide onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <Fault text={sending.fault} code={sending.code} testid="limit-error" />
        {confirmed === '' ? (
          <>
            <p class="number">
              {t.presentValue} <strong>{before}</strong>
            </p>
            <div class="answer">
              <div class="field">
                <label for="limit-value">
                  {t.value} {unit === '' ? '' : `(${unit})`}
                </label>
                <input
                  id="limit-value"
                  class="number answer-value"
                  inputMode="decimal"
                  autocomplete="off"
                  autofocus
                  value={entered}
                  onInput={(event) => setEntered(event.currentTarget.value)}
                  data-testid="limit-value"
                />
              </div>
              <Keypad value={entered} onInput={setEntered} />
            </div>
          </>
        ) : (
          <p class="confirm number" data-testid="limit-confirm">
            {before} <span aria-hidden="true">→</span> <strong>{`${recordText(confirmed, true)} ${unit}`.trim()}</strong>
          </p>
        )}
        <div class="dialog-actions">
          <button type="button" class="button" onClick={confirmed === '' ? onClose : () => setConfirmed('')} data-testid="limit-back">
            {confirmed === '' ? t.cancel : t.back}
          </button>
          <button type="submit" class="button primary" disabled={sending.busy || stale.value} data-testid="limit-send">
            {sending.busy ? t.sending : confirmed === '' ? t.next : said.now}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
