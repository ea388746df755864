/** What a reconciler works on, by its place, and what wakes it. */
export interface Key {
  readonly site: string;
  readonly name: string;
}

/** What a source of changes may do with a loop. */
export interface Wakeable {
  wake(site: string, name: string): void;
  wakeAll(): void;
}
