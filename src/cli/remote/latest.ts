/** What was noted last, by key: of more keys or characters than it may hold, those that were noted longest ago are gone. */
export class Latest {
  readonly #values = new Map<string, string>();
  readonly #keysMax: number;
  readonly #charactersMax: number;
  #characters = 0;

  /** @param charactersMax of all keys and values. */
  constructor(keysMax: number, charactersMax = 64 * 1024 ** 2) {
    this.#keysMax = keysMax;
    this.#charactersMax = charactersMax;
  }

  get(key: string): string | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: string): void {
    this.#remove(key);
    this.#values.set(key, value);
    this.#characters += key.length + value.length;
    for (const oldest of this.#values.keys()) {
      if (this.#values.size <= this.#keysMax && this.#characters <= this.#charactersMax) return;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    const value = this.#values.get(key);
    if (value === undefined) return;
    this.#values.delete(key);
    this.#characters -= key.length + value.length;
  }
}
