import type { Measurement } from '../data/key-tags.js';
import { departure } from '../data/departures.js';
import { stale, tagValue } from '../data/plant.js';
import type { TagValue } from '../data/types.js';
import { t } from '../common/strings.js';
import { numberText, unitText } from '../common/text.js';

const BAR = { width: 100, height: 8 } as const;

/** During a batch it is conspicuous. @param inBatch a batch works on the unit. */
export function MeasuredValue({ unit, measurement, inBatch = false }: { readonly unit: string; readonly measurement: Measurement; readonly inBatch?: boolean }) {
  const { tag, setpoint, range, variable, description, module } = measurement;
  const held = tagValue(unit, tag.address).value;
  const target = setpoint ? tagValue(unit, setpoint.address).value : undefined;
  const span = range ? Math.max(Math.abs(range.min), Math.abs(range.max)) : undefined;
  const good = held.quality === 'Good';
  const departs = inBatch ? departure(unit, measurement) : undefined;
  return (
    <div
      class={good ? 'value' : 'value value-bad'}
      data-testid={`value-${tag.address}`}
      data-quality={held.quality}
      data-stale={String(stale.value)}
      title={`${tag.address} ${description}`}
    >
      <span class="value-label">
        {t.variables[variable] ?? (variable || description)} <span class="value-tag">{module.toUpperCase()}</span>{' '}
        {departs !== undefined && (
          <span class="mode-other value-departs" data-testid={`departs-${module}`}>
            {departs}
          </span>
        )}
      </span>
      <span class="value-number number">
        <span data-testid={`number-${tag.address}`}>{textOf(held, span)}</span> <span class="value-unit">{unitText(tag.engUnits)}</span>
      </span>
      {range && <Bar value={held} target={target} min={range.min} max={range.max} />}
      <span class="value-note">
        {!good && <span class="quality">{t.qualities[held.quality] ?? held.quality}</span>}
        {target && typeof target.value === 'number' && (
          <span class="hint number">
            {t.setpoint} {textOf(target, span)}
          </span>
        )}
      </span>
    </div>
  );
}

function textOf({ value }: TagValue, span: number | undefined): string {
  return typeof value === 'number' ? numberText(value, span) : '–';
}

/** Where the value lies in its range, and the mark of its setpoint: read faster than a number. */
function Bar({ value, target, min, max }: { readonly value: TagValue; readonly target: TagValue | undefined; readonly min: number; readonly max: number }) {
  const at = (number: number): number => Math.min(1, Math.max(0, (number - min) / (max - min))) * BAR.width;
  return (
    <svg class="bar" viewBox={`0 0 ${BAR.width} ${BAR.height}`} preserveAspectRatio="none" aria-hidden="true">
      <rect class="bar-ground" width={BAR.width} height={BAR.height} />
      {typeof value.value === 'number' && <rect class="bar-value" width={at(value.value)} height={BAR.height} />}
      {target && typeof target.value === 'number' && <rect class="bar-target" x={Math.min(BAR.width - 1.5, at(target.value))} width="1.5" height={BAR.height} />}
    </svg>
  );
}
