/** What is known of something, each with its word; what is empty is left out. */
export interface FactListProps {
  readonly facts: readonly (readonly [label: string, value: string])[];
  /** Each in a row of its own. */
  readonly rows?: boolean;
}

export function FactList({ facts, rows = false }: FactListProps) {
  return (
    <dl class={rows ? 'facts facts-rows' : 'facts'}>
      {facts
        .filter(([, value]) => value !== '')
        .map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
