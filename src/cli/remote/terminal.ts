/** What is asked of the person at the terminal. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { usage } from './outcome.js';
import { plainText } from './plain.js';

/** Questions one after the other: what is typed while none is open answers none. */
export interface Dialogue {
  /** @returns undefined when `withdrawn` came first, or Ctrl-C. */
  ask(question: string, withdrawn: AbortSignal): Promise<string | undefined>;
  /** By Ctrl-C, or because the terminal is gone. */
  readonly ended: AbortSignal;
  close(): void;
}

export interface Terminal {
  /** A person sits at it. */
  readonly isAttended: boolean;
  /** @throws CommandError where nobody sits at one. */
  ask(question: string): Promise<string>;
  /** As `ask`, without showing what is typed. @param way what to do where nobody sits at one. */
  askSecret(question: string, way?: string): Promise<string>;
  /** For as long as it is open, Ctrl-C ends it and not the command. */
  converse(): Dialogue;
  /** All of standard input. */
  read(): Promise<string>;
  /** What concerns a person, and no program: to standard error. */
  say(text: string): void;
}

type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean };

/** The input is opened when it is asked for: a command that reads nothing leaves it alone. */
export function terminalOf(inputOf: () => Input, output: NodeJS.WritableStream): Terminal {
  const isAttended = (): boolean => inputOf().isTTY === true;

  function asked(question: string, isSecret: boolean, way: string): Promise<string> {
    if (!isAttended()) return Promise.reject(usage(`nobody is there to answer "${question.trim()}": ${way}`));
    output.write(plainText(question));
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
    const lines = createInterface({ input: inputOf(), output: isSecret ? nowhere : output, terminal: true });
    return new Promise((resolve, reject) => {
      lines.once('line', (line) => {
        lines.close();
        if (isSecret) output.write('\n');
        resolve(line);
      });
      lines.once('SIGINT', () => {
        lines.close();
        output.write('\n');
        reject(usage('nothing was done'));
      });
    });
  }

  function converse(): Dialogue {
    const lines = createInterface({ input: inputOf(), output, terminal: true });
    const ended = new AbortController();
    lines.once('SIGINT', () => ended.abort());
    lines.once('close', () => ended.abort());
    return {
      ended: ended.signal,
      close: () => lines.close(),
      ask(question, withdrawn) {
        const either = AbortSignal.any([withdrawn, ended.signal]);
        if (either.aborted) return Promise.resolve(undefined);
        output.write(plainText(question));
        return new Promise((resolve) => {
          const answer = (line: string): void => {
            either.removeEventListener('abort', withdraw);
            resolve(line);
          };
          const withdraw = (): void => {
            lines.off('line', answer);
            output.write('\n');
            resolve(undefined);
          };
          lines.once('line', answer);
          either.addEventListener('abort', withdraw, { once: true });
        });
      },
    };
  }

  return {
    get isAttended() {
      return isAttended();
    },
    ask: (question) => asked(question, false, 'give it on the command line, or as the help of the command says'),
    askSecret: (question, way = 'give it on standard input, with --password-stdin') => asked(question, true, way),
    converse,
    async read() {
      const chunks: Buffer[] = [];
      for await (const chunk of inputOf()) chunks.push(Buffer.from(chunk));
      return Buffer.concat(chunks).toString('utf8');
    },
    say: (text) => void output.write(`${plainText(text)}\n`),
  };
}

export const TERMINAL = terminalOf(() => process.stdin, process.stderr);

/** Of standard input: where a secret is given to a program. */
export async function firstLine({ read }: Pick<Terminal, 'read'>): Promise<string> {
  return (await read()).split(/\r?\n/, 1)[0] ?? '';
}
