/** A trend desk without curves: what each unit measures is one touch away. */
import { keyTags } from '../../data/plant.js';
import { t } from '../../common/strings.js';
import { keyOf } from './tag-choice.js';
import { choosePens, PENS_MAX } from './trend-address.js';

export function FirstPens() {
  const offered = [...keyTags.value].flatMap(([unit, { measurements }]) =>
    measurements.length === 0 ? [] : [{ unit, tags: measurements.map(({ tag }) => tag).slice(0, PENS_MAX) }],
  );
  return (
    <div class="first-pens">
      <p class="empty">{t.noPens}</p>
      {offered.map(({ unit, tags }) => (
        <button type="button" class="button" key={unit} onClick={() => choosePens(tags.map(keyOf))} data-testid={`first-pens-${unit}`}>
          <strong>{unit.toUpperCase()}</strong>
          <span class="hint">{tags.map(({ controlModule }) => controlModule.toUpperCase()).join(', ')}</span>
        </button>
      ))}
    </div>
  );
}
