/** A promise that its owner settles once; the first reason stays. */
export class Signal {
  readonly promise: Promise<string>;
  #settle: (reason: string) => void = () => {};
  #reason: string | undefined;

  constructor() {
    this.promise = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  get reason(): string | undefined {
    return this.#reason;
  }

  raise(reason: string): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#settle(reason);
  }
}
