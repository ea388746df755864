/** The faceplate of a control module: mode, what an operator looks at first, its curve, and below it one part of the rest at a time. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { isBlocked, type ModuleTags } from '../../data/module-tags.js';
import { setMode, writeTag } from '../../data/modules.js';
import { readModules, tagValue, units, watchTags } from '../../data/plant.js';
import { can } from '../../data/session.js';
import type { Pen } from '../../data/trend.js';
import type { ModuleInfo, TagDescriptor } from '../../data/types.js';
import { t, word, words } from '../../common/strings.js';
import { tagText } from '../../common/tag-text.js';
import { Tabs } from '../../parts/tabs.js';
import { CommandButton } from '../../plant/command-button.js';
import { ModeChoice } from '../../plant/mode-choice.js';
import { Trend } from '../../plant/trend.js';
import { automaticWithHand, HandValues, useByHand } from './hand-values.js';
import { Interlock } from './interlock.js';
import { Limits } from './limits.js';
import { alarmsOf, ModuleAlarms } from './module-alarms.js';
import { ModuleChanges } from './module-changes.js';
import { ResetFault } from './reset-fault.js';
import { Tuning } from './tuning.js';
import { WriteDialog } from './write-dialog.js';

const TREND_MS = 5 * 60_000;

const said = words({
  en: { parts: 'More of this module', values: 'Values', limits: 'Limits', tune: 'Tune', interlock: 'Interlock', alarms: 'Alarms', changes: 'Changes' },
  de: { parts: 'Mehr zu diesem Modul', values: 'Werte', limits: 'Grenzen', tune: 'Parameter', interlock: 'Verriegelung', alarms: 'Alarme', changes: 'Änderungen' },
});

type Part = 'values' | 'limits' | 'tune' | 'interlock' | 'alarms' | 'changes';

export function Faceplate({ tags, onClose }: { readonly tags: ModuleTags; readonly onClose: () => void }) {
  const { module, all } = tags;
  const [writing, setWriting] = useState('');
  useEffect(() => watchTags(module.unit, [`${module.name.replace(/[*?[\]]/g, '?')}.*`]), [module.name, module.unit]);
  const pens = useMemo(() => pensOf(tags), [module.name]);
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => followFocus(title.current), []);
  const first = leading(tags);
  const why = !can('controlmodule:write-tag') ? t.commandNotAllowed : module.mode === 'Automatic' ? t.writeNeedsManual : '';
  const lines = { module, onWrite: setWriting };
  const writable = all.find(({ name }) => name === writing);
  const byHand = useByHand(all);
  const inBatch = (units.value.find(({ name }) => name === module.unit)?.allocatedTo ?? '') !== '';
  return (
    <aside class="panel faceplate" aria-labelledby="faceplate-title" data-testid={`faceplate-${module.name}`}>
      <header class="detail-head">
        <div>
          <h2 id="faceplate-title" ref={title} tabIndex={-1}>
            {module.name.toUpperCase()}
          </h2>
          <p class="hint">{module.description}</p>
        </div>
        <button type="button" class="button" onClick={onClose} data-testid="faceplate-close">
          {t.close}
        </button>
      </header>
      <ModeChoice
        title={module.name.toUpperCase()}
        mode={module.mode}
        meanings={byHand.length > 0 ? { ...t.modeMeaning, Automatic: automaticWithHand } : t.modeMeaning}
        noteOf={(mode) => mode === 'Automatic' && <HandValues module={module} found={byHand} isOffered />}
        isDeparture={inBatch}
        onSet={(mode) => setMode('ControlModule', module.name, mode).then(readModules)}
      />
      <div class="faceplate-scroll scroll" tabIndex={0} role="group" aria-label={module.name}>
        {module.state !== 'Running' && (
          <p class="fault">
            {t.logic}: {word(module.state)} {module.message}
          </p>
        )}
        <ResetFault tags={tags} />
        <HandValues module={module} found={byHand.filter(({ by }) => by !== '')} />
        {why !== '' && all.some(({ accessLevel }) => accessLevel === 'readwrite') && (
          <p class="hint" data-testid="write-hint">
            {why}
          </p>
        )}
        <Lines tags={first} isLead {...lines} />
        {pens.length > 0 && can('historian:tags') && (
          <div class="faceplate-trend">
            <Trend pens={pens} windowMs={TREND_MS} />
          </div>
        )}
        <Parts tags={tags} first={first} {...lines} />
      </div>
      {writable && <WriteDialog tag={writable} onWrite={(value) => writeTag(module.name, writable.name, value)} onClose={() => setWriting('')} />}
    </aside>
  );
}

/** How a loop says in its own tags what its mode says already, above. */
const MODE_TAGS: readonly string[] = ['auto', 'mode'];

interface PartsProps {
  readonly tags: ModuleTags;
  /** What stands above already. */
  readonly first: readonly TagDescriptor[];
  readonly module: ModuleInfo;
  readonly onWrite: (tag: string) => void;
}

/** One part at a time. It opens with the interlock where that is what keeps the device from moving, and stays where somebody has put it. */
function Parts({ tags, first, module, onWrite }: PartsProps) {
  const { all, interlocks, parameters } = tags;
  const isLoop = module.deviceClass === 'controller';
  const rest = all
    .filter((tag) => !first.includes(tag) && !(isLoop && MODE_TAGS.includes(tag.name)))
    .sort((a, b) => Number(b.accessLevel === 'readwrite') - Number(a.accessLevel === 'readwrite'));
  const [asked, setAsked] = useState<Part | undefined>(undefined);
  const values = interlocks.map((tag) => ({ tag, held: tagValue(module.unit, tag.address).value }));
  const isKnown = values.every(({ held }) => held.quality !== '');
  const opens: Part =
    module.interlockBypass.active || values.some(({ tag, held }) => held.quality === 'Good' && isBlocked(tag, held.value)) ? 'interlock' : rest.length > 0 ? 'values' : 'limits';
  useEffect(() => {
    if (isKnown && asked === undefined) setAsked(opens);
  }, [isKnown]);
  const chosen = asked ?? opens;
  const count = alarmsOf(module.name).length;
  const tabs: (readonly [Part, string])[] = [
    ...(rest.length > 0 ? [['values', said.values] as const] : []),
    ['limits', said.limits],
    ...(parameters.length > 0 ? [['tune', said.tune] as const] : []),
    ...(interlocks.length > 0 || module.interlockBypass.active || chosen === 'interlock' ? [['interlock', said.interlock] as const] : []),
    ['alarms', count > 0 ? `${said.alarms} ${count}` : said.alarms],
    ['changes', said.changes],
  ];
  return (
    <Tabs label={said.parts} chosen={chosen} tabs={tabs} onChoose={setAsked} testid="part">
      {chosen === 'values' && <Lines module={module} tags={rest} onWrite={onWrite} />}
      {chosen === 'limits' && <Limits module={module} />}
      {chosen === 'tune' && <Tuning tags={tags} />}
      {chosen === 'interlock' && <Interlock tags={tags} />}
      {chosen === 'alarms' && <ModuleAlarms module={module} />}
      {chosen === 'changes' && <ModuleChanges module={module} tags={all} />}
    </Tabs>
  );
}

/** Who opened it with a key goes on inside it, and after it is closed at the device it was opened from. @returns ends it. */
function followFocus(title: HTMLElement | null): () => void {
  const opener = document.activeElement;
  if (!title || !(opener instanceof HTMLElement) || !opener.matches('.module:focus-visible')) return () => undefined;
  title.focus();
  return () =>
    queueMicrotask(() => {
      if (document.activeElement === document.body) opener.focus();
    });
}

/** What an operator looks at first: the value, the setpoint, the output, the command of a device. */
function leading({ all, main, setpoint, output }: ModuleTags): TagDescriptor[] {
  const command = all.find(({ name }) => name === 'cmd');
  return [main, setpoint, output, command].filter((tag, at, list): tag is TagDescriptor => tag !== undefined && list.indexOf(tag) === at);
}

function pensOf(tags: ModuleTags): Pen[] {
  const { module } = tags;
  const found = leading(tags).filter(({ dataType }) => dataType === 'Float');
  return found.map((tag) => ({ unit: module.unit, address: tag.address, label: t.tagNames[tag.name] ?? tag.name, engUnits: tag.engUnits }));
}

interface LinesProps {
  readonly module: ModuleInfo;
  readonly tags: readonly TagDescriptor[];
  /** Beside each other and large: what an operator looks at first. */
  readonly isLead?: boolean;
  readonly onWrite: (tag: string) => void;
}

function Lines({ module, tags, isLead = false, onWrite }: LinesProps) {
  return (
    <ul class={isLead ? 'lines lines-lead' : 'lines'}>
      {tags.map((tag) => (
        <Line key={tag.address} module={module} tag={tag} onWrite={() => onWrite(tag.name)} />
      ))}
    </ul>
  );
}

interface LineProps {
  readonly module: ModuleInfo;
  readonly tag: TagDescriptor;
  readonly onWrite: () => void;
}

function Line({ module, tag, onWrite }: LineProps) {
  const held = tagValue(module.unit, tag.address).value;
  const alarmed = tag.role === 'alarm' && held.value === true;
  return (
    <li class={alarmed ? 'line line-alarm' : 'line'}>
      <span class="line-name">
        {t.tagNames[tag.name] ?? tag.name}
        {tag.name in t.tagNames && <span class="hint"> {tag.name}</span>}
      </span>
      <span class="line-value number live" data-testid={`line-${tag.name}`} data-quality={held.quality}>
        {tagText(tag, held)}
      </span>
      {tag.accessLevel === 'readwrite' && (
        <CommandButton name={t.write} disabled={!can('controlmodule:write-tag') || module.mode === 'Automatic'} onClick={onWrite} testid={`write-${tag.name}`} />
      )}
    </li>
  );
}
