/** The built command as its people run it: a process of its own, with a folder of its own for what it keeps. */
import { type ChildProcess, spawn } from 'node:child_process';
import { COMMAND } from '../support/command.js';

export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Running {
  readonly child: ChildProcess;
  /** What was printed so far. */
  out(): string;
  readonly ended: Promise<Ended>;
}

export class LinesideCommand {
  readonly environment: Readonly<Record<string, string>>;

  /** Nothing of the test runner is in the process. */
  constructor(configFolder: string) {
    this.environment = { PATH: process.env.PATH ?? '', HOME: configFolder, XDG_CONFIG_HOME: configFolder };
  }

  /** @param input what stands on standard input; the process has no terminal. */
  run(args: readonly string[], input = ''): Promise<Ended> {
    return this.start(args, input).ended;
  }

  start(args: readonly string[], input = ''): Running {
    return this.spawn(process.execPath, [COMMAND, ...args], input);
  }

  /** A line of bash in which `lineside` is the command. */
  shell(line: string): Promise<Ended> {
    return this.spawn('bash', ['-c', `lineside() { '${process.execPath}' '${COMMAND}' "$@"; }\n${line}`], '').ended;
  }

  spawn(program: string, args: readonly string[], input: string): Running {
    const child = spawn(program, args, { env: this.environment, stdio: ['pipe', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    child.stdin.on('error', () => undefined); // it may end before it has read
    child.stdin.end(input);
    const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ code, out, err })));
    return { child, out: () => out, ended };
  }
}
