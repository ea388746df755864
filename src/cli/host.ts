/** Where the remote commands are given: the process, or whoever runs them inside of one. */
import { once } from 'node:events';
import { KnownBoxes } from './remote/boxes.js';
import { TERMINAL, type Terminal } from './remote/terminal.js';

export interface Host {
  /** What is typed behind `lineside`. */
  readonly words: readonly string[];
  readonly terminal: Terminal;
  /** What is printed is read by a person. */
  readonly isTerminal: boolean;
  boxes(): KnownBoxes;
  /** To standard output; fulfilled when its reader has taken it. */
  write(text: string): Promise<void>;
  /** The exit code, as far as it is known. */
  ends(exitCode: number): void;
  /** The command line says nothing that could be done. */
  leave(exitCode: number): never;
}

export const PROCESS: Host = {
  words: process.argv.slice(2),
  terminal: TERMINAL,
  get isTerminal() {
    return process.stdout.isTTY === true;
  },
  boxes: () => new KnownBoxes(undefined, (text) => TERMINAL.say(text)),
  async write(text) {
    process.stdout.write(text);
    if (process.stdout.writableNeedDrain) await once(process.stdout, 'drain');
  },
  ends: (exitCode) => void (process.exitCode = exitCode),
  leave: (exitCode) => process.exit(exitCode),
};
