/** On which unit a batch is made what the recipe asks of a capability. */
import { units } from '../data/plant.js';
import { words } from '../common/strings.js';

const said = words({
  en: { unitFor: (capability: string) => `Unit for ${capability}`, byRecipe: 'As the recipe says' },
  de: { unitFor: (capability: string) => `Teilanlage für ${capability}`, byRecipe: 'Wie das Rezept sagt' },
});

interface UnitChoiceProps {
  readonly capability: string;
  /** Undefined: any unit of the site. */
  readonly candidates: readonly string[] | undefined;
  /** '' leaves it to the recipe. */
  readonly value: string;
  readonly onChoose: (unit: string) => void;
}

export function UnitChoice({ capability, candidates, value, onChoose }: UnitChoiceProps) {
  const names = candidates ?? units.value.map(({ name }) => name);
  return (
    <div class="field">
      <label for={`unit-for-${capability}`}>{said.unitFor(capability)}</label>
      <select id={`unit-for-${capability}`} class="select" value={value} onChange={(event) => onChoose(event.currentTarget.value)} data-testid={`unit-for-${capability}`}>
        <option value="">{said.byRecipe}</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name.toUpperCase()}
          </option>
        ))}
      </select>
    </div>
  );
}
