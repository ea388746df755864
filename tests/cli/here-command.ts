/** The command line as its people type it, run in the process of a test: parsed by the same rows, with streams and a folder of its own. What is about the process itself wants `LinesideCommand`. */
import { Command } from 'commander';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import type { Host } from '../../src/cli/host.js';
import { addRemoteCommands, tellFault } from '../../src/cli/remote-commands.js';
import { KnownBoxes } from '../../src/cli/remote/boxes.js';
import { terminalOf } from '../../src/cli/remote/terminal.js';
import type { Ended } from './lineside-command.js';

class Left extends Error {}

/** A person who types at a terminal. */
export interface Typing {
  /** What has been printed so far, on both streams. */
  shown(): string;
  type(text: string): void;
  readonly ended: Promise<Ended>;
}

export class HereCommand {
  readonly #folder: string;

  /** Of what would be XDG_CONFIG_HOME. */
  constructor(configFolder: string) {
    this.#folder = configFolder;
  }

  /** @param input what stands on standard input; nobody sits at a terminal. */
  run(args: readonly string[], input = ''): Promise<Ended> {
    return this.#given(args, Readable.from(input === '' ? [] : [Buffer.from(input)])).ended;
  }

  /** Somebody sits at a terminal. */
  sit(args: readonly string[]): Typing {
    const keys = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => keys });
    const { shown, ended } = this.#given(args, keys);
    return { shown, ended, type: (text) => void keys.write(text) };
  }

  #given(args: readonly string[], input: NodeJS.ReadableStream): { shown(): string; readonly ended: Promise<Ended> } {
    let [out, err, all] = ['', '', ''];
    let code = 0;
    const errors = new PassThrough();
    errors.on('data', (chunk: Buffer) => {
      err += chunk.toString();
      all += chunk.toString();
    });
    const terminal = terminalOf(() => input, errors);
    const host: Host = {
      words: args,
      terminal,
      isTerminal: false,
      boxes: () => new KnownBoxes(path.join(this.#folder, 'lineside'), (text) => terminal.say(text)),
      async write(text) {
        out += text;
        all += text;
      },
      ends: (exitCode) => void (code = exitCode),
      leave(exitCode) {
        code = exitCode;
        throw new Left();
      },
    };
    const program = new Command('lineside');
    program.configureOutput({ writeOut: (text) => void host.write(text), writeErr: (text) => void errors.write(text) });
    addRemoteCommands(program, host);
    const ended = program
      .parseAsync([...args], { from: 'user' })
      .catch((fault: unknown) => {
        if (!(fault instanceof Left)) tellFault(fault, host);
      })
      // what was said is read when its turn comes
      .then(() => new Promise<void>((resolve) => errors.end(() => setImmediate(resolve))))
      .then(() => ({ code, out, err }));
    return { shown: () => all, ended };
  }
}
