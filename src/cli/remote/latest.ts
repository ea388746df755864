/** What was noted last, by key: of more keys than it may hold, the one that was noted longest ago is gone. */
export class Latest<Value> {
  readonly #values = new Map<string, Value>();
  readonly #keysMax: number;

  constructor(keysMax: number) {
    this.#keysMax = keysMax;
  }

  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: Value): void {
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size <= this.#keysMax) return;
    const [oldest] = this.#values.keys();
    if (oldest !== undefined) this.#values.delete(oldest);
  }
}
