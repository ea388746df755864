/** The faceplate of a control module: mode, values with their bars, what can be written, trend, interlock and why. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ModuleTags } from '../data/module-tags.js';
import { setMode } from '../data/modules.js';
import { readModules, tagValue, watchTags } from '../data/plant.js';
import { can } from '../data/session.js';
import type { Pen } from '../data/trend.js';
import type { ModuleInfo, TagDescriptor } from '../data/types.js';
import { t, word } from '../common/strings.js';
import { tagText } from '../common/tag-text.js';
import { Interlock } from './interlock.js';
import { ModeChoice } from './mode-choice.js';
import { ResetFault } from './reset-fault.js';
import { Trend } from './trend.js';
import { Tuning } from './tuning.js';
import { WriteDialog } from './write-dialog.js';

const TREND_MS = 5 * 60_000;

export function Faceplate({ tags, onClose }: { readonly tags: ModuleTags; readonly onClose: () => void }) {
  const { module, all } = tags;
  const [writing, setWriting] = useState('');
  useEffect(() => watchTags(module.unit, [`${module.name.replace(/[*?[\]]/g, '?')}.*`]), [module.name, module.unit]);
  const pens = useMemo(() => pensOf(tags), [module.name]);
  const title = useRef<HTMLHeadingElement>(null);
  useEffect(() => followFocus(title.current), []);
  const first = leading(tags);
  const rest = all.filter((tag) => !first.includes(tag)).sort((a, b) => Number(b.accessLevel === 'readwrite') - Number(a.accessLevel === 'readwrite'));
  const why = !can('controlmodule:write-tag') ? t.commandNotAllowed : module.mode === 'Automatic' ? t.writeNeedsManual : '';
  const lines = { module, onWrite: setWriting };
  const writable = all.find(({ name }) => name === writing);
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
      <ModeChoice title={module.name.toUpperCase()} mode={module.mode} meanings={t.modeMeaning} onSet={(mode) => setMode('ControlModule', module.name, mode).then(readModules)} />
      <div class="faceplate-scroll scroll" tabIndex={0} role="group" aria-label={module.name}>
        {module.state !== 'Running' && (
          <p class="fault">
            {t.logic}: {word(module.state)} {module.message}
          </p>
        )}
        <ResetFault tags={tags} />
        <Interlock tags={tags} />
        {why !== '' && all.some(({ accessLevel }) => accessLevel === 'readwrite') && (
          <p class="hint" data-testid="write-hint">
            {why}
          </p>
        )}
        <Lines tags={first} {...lines} />
        {pens.length > 0 && can('historian:tags') && (
          <div class="faceplate-trend">
            <Trend pens={pens} windowMs={TREND_MS} />
          </div>
        )}
        <Lines tags={rest} {...lines} />
        <Tuning tags={tags} />
      </div>
      {writable && <WriteDialog module={module} tag={writable} onClose={() => setWriting('')} />}
    </aside>
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

function Lines({ module, tags, onWrite }: { readonly module: ModuleInfo; readonly tags: readonly TagDescriptor[]; readonly onWrite: (tag: string) => void }) {
  return (
    <ul class="lines">
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
        <button type="button" class="button" disabled={!can('controlmodule:write-tag') || module.mode === 'Automatic'} onClick={onWrite} data-testid={`write-${tag.name}`}>
          {t.write}
        </button>
      )}
    </li>
  );
}
