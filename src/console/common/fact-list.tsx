/** What is known of something, each with its word; what is empty is left out. */
export function FactList({ facts }: { readonly facts: readonly (readonly [label: string, value: string])[] }) {
  return (
    <dl class="facts">
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
