/** Commands as rows, run in the process of a test. */
import type { Box } from '../../src/cli/remote/box.js';
import { Box as RemoteBox } from '../../src/cli/remote/box.js';
import { KnownBoxes } from '../../src/cli/remote/boxes.js';
import type { CommandContext, CommandRow, Given } from '../../src/cli/remote/command.js';
import { COMMANDS } from '../../src/cli/remote/commands.js';
import type { Terminal } from '../../src/cli/remote/terminal.js';

/** By its words, `batch start`. */
export function rowOf(words: string): CommandRow {
  const row = COMMANDS.find(({ typed }) => typed === words || typed.startsWith(`${words} `));
  if (!row) throw new Error(`there is no command ${words}`);
  return row;
}

/** Nobody sits there; what is said is kept. */
export function silentTerminal(said: string[] = []): Terminal {
  const nobody = (question: string): Promise<string> => Promise.reject(new Error(`nobody answers: ${question}`));
  return {
    isAttended: false,
    ask: nobody,
    askSecret: nobody,
    converse: () => {
      throw new Error('nobody is there');
    },
    read: async () => '',
    say: (text) => void said.push(text),
  };
}

/** Of a command that needs no box. */
export function localContext(args: readonly string[], options: Given, terminal: Terminal = silentTerminal()): CommandContext {
  const none = (): Box => {
    throw new Error('the command needs no box');
  };
  return {
    boxes: new KnownBoxes('/nonexistent'),
    terminal,
    args,
    several: [],
    options,
    get box() {
      return none();
    },
    print: () => Promise.resolve(),
  };
}

/** Signed in to a box of the folder. */
export function boxContext(boxes: KnownBoxes, args: readonly string[], options: Given = {}, terminal: Terminal = silentTerminal()): CommandContext {
  const { box, site } = options as { readonly box?: string; readonly site?: string };
  return { boxes, terminal, args, several: [], options, box: new RemoteBox(boxes, { box, site }, terminal), print: () => Promise.resolve() };
}
