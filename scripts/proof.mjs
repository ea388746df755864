// What the proofs of `npm run long` have in common: what was found is said line by line, and counted for the last one.
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:net';

const LOOK_MS = 500;
export const counts = { passed: 0, failed: 0 };

export function check(what, is) {
  counts[is ? 'passed' : 'failed'] += 1;
  console.log(`${is ? 'ok' : 'not ok'}  ${what}`);
}

/** @returns what the program printed; @throws where it is not there or fails. */
export function ran(program, ...args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1e8 });
  if (error) throw new Error(`${program} is needed: ${error.message}`);
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
}

/** Looks twice a second, or as often as is said. @returns the first answer that is true, or after `patienceMs` the last one. */
export async function within(patienceMs, look, everyMs = LOOK_MS) {
  for (const end = performance.now() + patienceMs; ; ) {
    const found = await look();
    if (found || performance.now() > end) return found;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

/** As `within`. @throws where it does not come to it. */
export async function until(what, look, patienceMs) {
  const found = await within(patienceMs, look);
  if (found) return found;
  throw new Error(`gave up waiting until ${what}`);
}

export function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** The last line, and the end of the process. */
export function endProof() {
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  process.exit(counts.failed > 0 ? 1 : 0);
}
