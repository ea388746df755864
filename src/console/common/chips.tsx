/** One of a few, by one touch. */
export interface ChipsProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly (readonly [Value, string])[];
  readonly onChoose: (value: Value) => void;
  readonly testid: string;
}

export function Chips<Value extends string>({ label, value, options, onChoose, testid }: ChipsProps<Value>) {
  return (
    <div class="chips" role="group" aria-label={label}>
      {options.map(([name, text]) => (
        <button type="button" class="chip" key={name} aria-pressed={name === value} onClick={() => onChoose(name)} data-testid={`${testid}-${name}`}>
          {text}
        </button>
      ))}
    </div>
  );
}
