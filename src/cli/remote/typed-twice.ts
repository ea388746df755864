/** A secret that nobody can read back is typed twice. */
import type { Terminal } from './terminal.js';

/** @param way what to do where nobody sits at a terminal. */
export async function typedTwice(terminal: Pick<Terminal, 'askSecret' | 'say'>, what: string, way: string): Promise<string> {
  for (;;) {
    const first = await terminal.askSecret(`${what}: `, way);
    if ((await terminal.askSecret('once more: ', way)) === first) return first;
    terminal.say('lineside: the two differ; try again');
  }
}
