/** The stranger's program (client/story.ts) against an appliance: it runs by itself, as a customer's does. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { watched } from '../support/command.js';

const STORY = fileURLToPath(new URL('./client/story.js', import.meta.url));

/** @returns its exit code, and what it had to say. */
export async function clientStory(base: string, username: string, password: string): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(process.execPath, [STORY, base, username], { env: { ...process.env, LINESIDE_PASSWORD: password }, stdio: ['ignore', 'pipe', 'pipe'] });
  const seen = watched(child);
  return { code: await seen.ended, output: seen.output };
}
