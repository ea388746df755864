/** The interlocks of a module: each condition with the values that decide it, and their bypass with who, why and how long. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { conditionsOf, type InterlockCondition, type ModuleLogic, readLogic, readNetwork } from '../../data/interlock.js';
import { Latest } from '../../data/latest.js';
import { isBlocked, type ModuleTags } from '../../data/module-tags.js';
import { tagList, tagValue } from '../../data/plant.js';
import { can } from '../../data/session.js';
import { everySecond } from '../../data/timers.js';
import type { ModuleInfo } from '../../data/types.js';
import { t } from '../../common/strings.js';
import { momentText, unitText } from '../../common/text.js';
import { BypassDialog, EndBypassDialog } from './bypass-dialog.js';
import { CommandButton } from '../../plant/command-button.js';
import { ConditionLine } from '../../plant/condition-line.js';

export function Interlock({ tags }: { readonly tags: ModuleTags }) {
  const { module, interlocks } = tags;
  const conditions = useConditions(module, interlocks.length > 0);
  /** A read that fails takes the reasons away, but no dialog that is open. */
  const last = useRef(conditions);
  if (conditions.length > 0) last.current = conditions;
  if (interlocks.length === 0 && !module.interlockBypass.active) return null;
  const values = interlocks.map((tag) => ({ tag, held: tagValue(module.unit, tag.address).value }));
  const known = values.every(({ held }) => held.quality === 'Good');
  const blocked = values.some(({ tag, held }) => isBlocked(tag, held.value));
  return (
    <section class={blocked ? 'interlock interlock-blocked live' : 'interlock live'} data-testid="interlock" data-blocked={known ? String(blocked) : ''}>
      <h3>
        {blocked ? '⊘ ' : ''}
        {!known ? t.interlockUnknown : blocked ? t.interlocked : t.interlockFree}
      </h3>
      <BypassNote module={module} />
      <ul data-testid="interlock-why">
        {conditions.map((condition) => (
          <ConditionLine key={condition.text + condition.because.join()} condition={condition} />
        ))}
      </ul>
      {(last.current.length > 0 || module.interlockBypass.active) && <BypassActions module={module} conditions={last.current} />}
    </section>
  );
}

function unitOf(address: string): string {
  return unitText(tagList.peek().find((tag) => tag.address === address)?.engUnits ?? '');
}

/** An operator at three in the morning has no drawings at hand. Asked each second while the faceplate is open; the logic anew when somebody has engineered. */
function useConditions(module: ModuleInfo, wanted: boolean): readonly InterlockCondition[] {
  const [conditions, setConditions] = useState<readonly InterlockCondition[]>([]);
  useEffect(() => {
    if (!wanted || module.program === '' || !can('unit:runtime-fbnetwork') || !can('controlmoduletemplate:read')) return;
    let logic: ModuleLogic | undefined;
    const latest = new Latest();
    const ask = async (): Promise<readonly InterlockCondition[]> => {
      const known = (logic ??= await readLogic(module));
      return conditionsOf(module, known, await readNetwork(module), unitOf);
    };
    const look = async (): Promise<void> => {
      await latest.read(ask, setConditions).catch(() => setConditions([])); // the flag above still tells; an old reason would not
    };
    void look();
    const end = everySecond(async () => {
      if (!document.hidden) await look();
    });
    return () => {
      latest.forget();
      end();
    };
  }, [module.name, module.program, wanted, tagList.value]);
  return conditions;
}

function BypassNote({ module: { interlockBypass } }: { readonly module: ModuleInfo }) {
  if (!interlockBypass.active) return null;
  return (
    <p class="warning" data-testid="bypass-note">
      <strong>{t.bypassed(momentText(interlockBypass.until), interlockBypass.by)}</strong> {interlockBypass.reason}
    </p>
  );
}

function BypassActions({ module, conditions }: { readonly module: ModuleInfo; readonly conditions: readonly InterlockCondition[] }) {
  const [open, setOpen] = useState(false);
  const { active } = module.interlockBypass;
  const allowed = can('interlock:bypass');
  const close = (): void => setOpen(false);
  return (
    <div class="interlock-actions">
      <CommandButton
        name={active ? t.bypassEnd : t.bypassVerb}
        disabled={!allowed}
        describedBy="bypass-who"
        onClick={() => setOpen(true)}
        testid={active ? 'bypass-end' : 'bypass'}
      />
      {!allowed && (
        <p class="hint" id="bypass-who" data-testid="bypass-not-allowed">
          {t.bypassNotAllowed}
        </p>
      )}
      {open && (active ? <EndBypassDialog module={module} conditions={conditions} onClose={close} /> : <BypassDialog module={module} conditions={conditions} onClose={close} />)}
    </div>
  );
}
