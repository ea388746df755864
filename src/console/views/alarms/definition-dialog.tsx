/** What raises the alarm, to be read; it is changed where the plant is engineered. */
import type { AlarmDefinition } from '../../data/types.js';
import { Dialog } from '../../common/dialog.js';
import { FactList } from '../../common/fact-list.js';
import { t, word, words } from '../../common/strings.js';
import { recordText } from '../../common/text.js';

const said = words({
  en: {
    title: 'Definition',
    tag: 'Watches',
    condition: 'Condition',
    deadband: 'Deadband',
    delay: 'Delay',
    priority: 'Priority',
    command: 'Commands',
    gate: 'Armed by',
    armed: 'armed',
    notArmed: 'not armed',
    follows: 'Follows from',
    always: 'always',
  },
  de: {
    title: 'Definition',
    tag: 'Überwacht',
    condition: 'Bedingung',
    deadband: 'Hysterese',
    delay: 'Verzögerung',
    priority: 'Priorität',
    command: 'Kommandiert',
    gate: 'Scharf durch',
    armed: 'scharf',
    notArmed: 'nicht scharf',
    follows: 'Folgt aus',
    always: 'immer',
  },
});

export function DefinitionDialog({ definition, onClose }: { readonly definition: AlarmDefinition; readonly onClose: () => void }) {
  const {
    name,
    sourceName,
    tagName,
    conditionType,
    threshold,
    setpoint,
    stateValue,
    deadband,
    debounceSeconds,
    severity,
    priority,
    exceptionAction,
    gatedBy,
    armed,
    follows = [],
  } = definition;
  const limits = [threshold, setpoint].filter((text) => text !== '').map((text) => recordText(text, true));
  return (
    <Dialog title={`${said.title}: ${name}`} testid="definition-dialog" reads onClose={onClose}>
      <div class="stack">
        <FactList
          rows
          facts={[
            [said.tag, tagName === '' ? sourceName : `${sourceName}.${tagName}`],
            [said.condition, [t.conditions[conditionType] ?? conditionType, ...limits, word(stateValue)].filter((part) => part !== '').join(' ')],
            [said.deadband, recordText(deadband, true)],
            [said.delay, `${debounceSeconds} s`],
            [t.severity, `${word(severity)}, ${said.priority} ${priority}`],
            [said.command, word(exceptionAction)],
            [said.gate, `${gatedBy === '' ? said.always : gatedBy} (${armed ? said.armed : said.notArmed})`],
            [said.follows, follows.join(', ')],
          ]}
        />
        <div class="dialog-actions">
          <button type="button" class="button primary" onClick={onClose}>
            {t.close}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
