/** Programs as a person gives them in a terminal: in one folder, one after the other, and those that stay until they are ended. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Test } from 'tap';
import type { Printed } from './console-page.js';

export interface Given {
  /** What is typed when it asks. */
  readonly input?: string;
  /** What it prints when it is there, for a program that stays; without it, it is waited for until it ends. */
  readonly ready?: RegExp;
  readonly folder?: string;
  readonly environment?: Readonly<Record<string, string>>;
}

export class Shell {
  readonly folder: string;
  readonly #running = new Map<ChildProcess, Promise<void>>();

  /** Its folder and all that still runs in it end with the test. */
  constructor(t: Test) {
    this.folder = mkdtempSync(path.join(tmpdir(), 'lineside-page-'));
    t.teardown(async () => {
      for (const child of this.#running.keys()) child.kill();
      await Promise.all(this.#running.values());
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  /** Signed in for this folder only. */
  run(program: string, args: readonly string[], { input = '', ready, folder = this.folder, environment = {} }: Given = {}): Promise<Printed> {
    const env = { ...process.env, XDG_CONFIG_HOME: path.join(this.folder, 'config'), ...environment };
    const child = spawn(program, args, { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.once('error', () => undefined); // a command that reads nothing may have ended before it is told so
    child.stdin.end(input);
    let text = '';
    return new Promise((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => {
          text += chunk.toString();
          if (ready?.test(text)) resolve({ text, exitCode: 0 });
        });
      child.once('error', reject);
      const closed = new Promise<void>((close) => {
        child.once('close', (exitCode) => {
          this.#running.delete(child);
          resolve({ text, exitCode: exitCode ?? 1 });
          close();
        });
      });
      this.#running.set(child, closed);
    });
  }
}
