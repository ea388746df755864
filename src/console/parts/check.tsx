/** One thing that is so or is not; its words are as good a target as its box. */
export interface CheckProps {
  readonly id: string;
  readonly label: string;
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
}

export function Check({ id, label, isOn, onChange }: CheckProps) {
  return (
    <label class="check">
      <input type="checkbox" id={id} checked={isOn} onChange={(event) => onChange(event.currentTarget.checked)} data-testid={id} />
      {label}
    </label>
  );
}
