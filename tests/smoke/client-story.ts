/** The stranger's program (client/story.ts) against an appliance: it runs by itself, as a customer's does. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const STORY = fileURLToPath(new URL('./client/story.js', import.meta.url));

/** @returns its exit code, and what it had to say. */
export async function clientStory(base: string, username: string, password: string): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(process.execPath, [STORY, base, username], { env: { ...process.env, LINESIDE_PASSWORD: password }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}
