/** What of a unit is not as it should be, and nobody is alarmed: a prompt that waits long, interlocked devices, units that others have. One line each, with the way to it. */
import { deviceLook } from '../../data/device-look.js';
import type { KeyTags } from '../../data/key-tags.js';
import { plannedOf } from '../../data/plan.js';
import { prompts, tagValue } from '../../data/plant.js';
import type { OverviewUnit } from '../../data/types.js';
import { addressOf } from '../../data/view.js';
import { nowMs } from '../../common/clock.js';
import { t, words } from '../../common/strings.js';
import { ageText } from '../../common/text.js';
import { Badge } from '../../parts/badge.js';

const said = words({
  en: {
    prompt: (text: string) => `Prompt: ${text}`,
    interlocked: (names: string) => `${names} interlocked`,
    waitsFor: (unit: string, batch: string) => `waits for ${unit} (${batch})`,
    behind: 'Takes longer than before',
    behindBy: (age: string, expected: string) => `${age} over the ${expected} of earlier batches`,
  },
  de: {
    prompt: (text: string) => `Anfrage: ${text}`,
    interlocked: (names: string) => `${names} verriegelt`,
    waitsFor: (unit: string, batch: string) => `wartet auf ${unit} (${batch})`,
    behind: 'Dauert länger als bisher',
    behindBy: (age: string, expected: string) => `${age} über den ${expected} früherer Chargen`,
  },
});

/** Older than this a prompt is late. */
const PROMPT_LATE_MS = 15 * 60_000;
const INTERLOCKED = /interlock/i;

interface ConditionsProps {
  readonly unit: OverviewUnit;
  readonly keys: KeyTags | undefined;
}

export function Conditions({ unit, keys }: ConditionsProps) {
  return (
    <>
      <OldestPrompt unit={unit.name} />
      {unit.allocatedTo !== '' && <Interlocked unit={unit.name} keys={keys} />}
      <Behind unit={unit} />
    </>
  );
}

function OldestPrompt({ unit }: { readonly unit: string }) {
  const [oldest] = prompts.value.filter((prompt) => prompt.unit === unit).sort((a, b) => a.timestamp.localeCompare(b.timestamp));
  if (!oldest) return null;
  const since = Date.parse(oldest.timestamp);
  return (
    <a class="tile-condition tile-way" href={addressOf('prompts')} data-testid={`prompt-of-${unit}`}>
      <Badge look={nowMs.value - since > PROMPT_LATE_MS ? 'soft' : 'outline'} state={nowMs.value - since > PROMPT_LATE_MS ? 'late' : 'new'}>
        {ageText(since, nowMs.value)}
      </Badge>
      <span class="tile-said">{said.prompt(oldest.resultKey ? t.awaitsResult(oldest.resultKey) : oldest.text)}</span>
    </a>
  );
}

/** Of a unit at work: at rest a lock is as it should be. */
function Interlocked({ unit, keys }: { readonly unit: string; readonly keys: KeyTags | undefined }) {
  const locked = (keys?.devices ?? []).filter(({ state }) => {
    const held = tagValue(unit, state.address).value;
    return deviceLook(held) === 'rest' && typeof held.value === 'string' && INTERLOCKED.test(held.value);
  });
  if (locked.length === 0) return null;
  return (
    <a class="tile-condition tile-way" href={addressOf('unit', unit, { module: locked[0]?.module ?? '' })} data-testid={`interlocked-${unit}`}>
      <Lock />
      <span class="tile-said">{said.interlocked(locked.map(({ module }) => module.toUpperCase()).join(', '))}</span>
    </a>
  );
}

function Lock() {
  return (
    <svg class="tile-lock" viewBox="0 0 20 20" width="18" height="18" aria-hidden="true">
      <path d="M4 9H16V18H4Z M6.5 9V6A3.5 3.5 0 0 1 13.5 6V9" />
    </svg>
  );
}

function Behind({ unit }: { readonly unit: OverviewUnit }) {
  const planned = unit.allocatedTo === '' ? undefined : plannedOf(unit.allocatedTo);
  if (!planned) return null;
  const [wait] = planned.waitsFor;
  const over = planned.expectedSeconds === null ? 0 : planned.elapsedSeconds - planned.expectedSeconds;
  return (
    <>
      {wait && (
        <p class="tile-condition" data-testid={`waits-${unit.name}`}>
          {said.waitsFor(wait.unit.toUpperCase(), wait.batchID)}
        </p>
      )}
      {planned.expectedSeconds !== null && over > Math.max(60, planned.expectedSeconds * 0.1) && (
        <p class="tile-condition" data-testid={`behind-${unit.name}`}>
          <Badge look="soft">{said.behind}</Badge> {said.behindBy(ageText(0, over * 1000), ageText(0, planned.expectedSeconds * 1000))}
        </p>
      )}
    </>
  );
}
