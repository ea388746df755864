/**
 * Questions that overlap: a timer asks while a frame of the stream asks too, and nothing promises that the answers come in
 * the order of the questions. An answer counts only when no later question has been answered; a panel that asks faster than
 * it is answered still gets on.
 */
export class Latest {
  #asked = 0;
  #answered = 0;

  /** What is under way now is of no more use: another site, batch or element is looked at. */
  forget(): void {
    this.#answered = this.#asked;
  }

  /** @param take is called unless a later question was answered meanwhile. @returns whether it was. A refusal that was overtaken is no fault. */
  async read<T>(ask: () => Promise<T>, take: (answer: T) => void): Promise<boolean> {
    this.#asked += 1;
    const question = this.#asked;
    let answer: T;
    try {
      answer = await ask();
    } catch (fault) {
      if (!this.#counts(question)) return false;
      throw fault;
    }
    if (!this.#counts(question)) return false;
    take(answer);
    return true;
  }

  #counts(question: number): boolean {
    if (question <= this.#answered) return false;
    this.#answered = question;
    return true;
  }
}
