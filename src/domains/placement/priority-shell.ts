/**
 * Gives threads their scheduling class by `chrt`, one after the other, in a shell that stays. A program that is started from here is a copy of
 * the whole process for a moment: 5 to 20 ms in which the gateway answers nobody, and for each thread of a plant that starts. The shell is
 * small, and is copied instead.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** A line in, a line out: `ok`, or `no` and what chrt said. */
export const SCRIPT = 'set -f; while read -r policy priority thread; do if said=$(chrt "$policy" -p "$priority" "$thread" 2>&1); then echo ok; else echo no $said; fi; done';

/** The next thread waits for the answer; a slow machine that boots takes seconds for it. */
export const ANSWER_MS_MAX = 15_000;

/** As `execFile` would have it: `code` ENOENT when the program is not there; `isLost` when the shell went or gave no answer (`killed` then), and nobody knows what the machine would have said. */
export type ShellFault = Error & { readonly killed?: boolean; readonly code?: string; readonly isLost?: boolean };

interface Waiting {
  readonly resolve: () => void;
  readonly reject: (fault: ShellFault) => void;
  readonly timer: NodeJS.Timeout;
}

export class PriorityShell {
  readonly #answerMsMax: number;
  readonly #command: readonly [string, ...string[]];
  #shell: ChildProcessByStdio<Writable, Readable, null> | undefined;
  #waiting: Waiting | undefined;
  #isClosed = false;

  constructor(answerMsMax = ANSWER_MS_MAX, command: readonly [string, ...string[]] = ['/bin/sh', '-c', SCRIPT]) {
    this.#answerMsMax = answerMsMax;
    this.#command = command;
  }

  /**
   * One at a time: whoever asks next waits for the answer.
   * @throws ShellFault when the machine refuses it, there is no such program, or it gives no answer.
   */
  chrt(policy: '-f' | '-o', priority: string, osThreadId: number): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error('it is closed'));
    if (this.#waiting) return Promise.reject(new Error('a thread is asked for while another one waits for its answer'));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#end(Object.assign(new Error(`no answer within ${this.#answerMsMax} ms`), { killed: true, isLost: true })), this.#answerMsMax);
      this.#waiting = { resolve, reject, timer };
      try {
        (this.#shell ??= this.#start()).stdin.write(`${policy} ${priority} ${osThreadId}\n`);
      } catch (fault) {
        this.#end(lostBy(fault)); // out of descriptors there are no pipes
      }
    });
  }

  /** No further shell is started. */
  close(): void {
    this.#isClosed = true;
    this.#end(Object.assign(new Error('it is closed'), { killed: true }));
  }

  #start(): ChildProcessByStdio<Writable, Readable, null> {
    const [program, ...args] = this.#command;
    const shell = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    const lost = (fault: Error): void => {
      if (this.#shell === shell) this.#end(lostBy(fault));
    };
    shell.on('error', lost);
    shell.on('exit', () => lost(new Error('the shell has ended')));
    shell.stdin.on('error', lost);
    createInterface({ input: shell.stdout }).on('line', (line) => this.#shell === shell && this.#answered(line));
    // nobody waits for it to end
    shell.unref();
    for (const pipe of [shell.stdin, shell.stdout]) if (pipe instanceof Socket) pipe.unref();
    return shell;
  }

  #answered(line: string): void {
    const waiting = this.#taken();
    if (line === 'ok') waiting?.resolve();
    else waiting?.reject(Object.assign(new Error(line.slice('no '.length)), /\bnot found\b/.test(line) && { code: 'ENOENT' }));
  }

  #end(fault: ShellFault): void {
    this.#shell?.kill('SIGKILL');
    this.#shell = undefined;
    this.#taken()?.reject(fault);
  }

  #taken(): Waiting | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    clearTimeout(waiting?.timer);
    return waiting;
  }
}

/** A program that is not there will not be there the next time. */
function lostBy(fault: unknown): ShellFault {
  const error = fault instanceof Error ? fault : new Error(String(fault));
  return (error as ShellFault).code === 'ENOENT' ? error : Object.assign(error, { isLost: true });
}
