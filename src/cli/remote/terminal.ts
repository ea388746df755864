/** What is asked of the person at the terminal. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { usage } from './outcome.js';
import { plainText } from './plain.js';

export interface Terminal {
  /** @throws CommandError where nobody sits at one. */
  ask(question: string): Promise<string>;
  /** As `ask`, without showing what is typed. @param way what to do where nobody sits at one. */
  askSecret(question: string, way?: string): Promise<string>;
  /** All of standard input. */
  read(): Promise<string>;
  /** What concerns a person, and no program: to standard error. */
  say(text: string): void;
}

export const TERMINAL: Terminal = {
  ask: (question) => asked(question, false, 'give it on the command line, or as the help of the command says'),
  askSecret: (question, way = 'give it on standard input, with --password-stdin') => asked(question, true, way),
  async read() {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString('utf8');
  },
  say: (text) => void process.stderr.write(`${plainText(text)}\n`),
};

/** Of standard input: where a secret is given to a program. */
export async function firstLine({ read }: Pick<Terminal, 'read'>): Promise<string> {
  return (await read()).split(/\r?\n/, 1)[0] ?? '';
}

function asked(question: string, isSecret: boolean, way: string): Promise<string> {
  if (process.stdin.isTTY !== true) return Promise.reject(usage(`nobody is there to answer "${question.trim()}": ${way}`));
  process.stderr.write(plainText(question));
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: isSecret ? nowhere : process.stderr, terminal: true });
  return new Promise((resolve, reject) => {
    lines.once('line', (line) => {
      lines.close();
      if (isSecret) process.stderr.write('\n');
      resolve(line);
    });
    lines.once('SIGINT', () => {
      lines.close();
      process.stderr.write('\n');
      reject(usage('nothing was done'));
    });
  });
}
