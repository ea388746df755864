/** What the record says under the key itself: keys are words of people, and `constructor` is a word that every object answers to. */
export function ownOf<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
