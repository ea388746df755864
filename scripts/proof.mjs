// What the proofs of `npm run long` have in common: what was found is said line by line, and counted for the last one.
import { spawnSync } from 'node:child_process';

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

/** Looks twice a second. @returns what was found; @throws after `patienceMs`. */
export async function until(what, look, patienceMs) {
  const end = performance.now() + patienceMs;
  while (performance.now() < end) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  throw new Error(`gave up waiting until ${what}`);
}

/** The last line, and the end of the process. */
export function endProof() {
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  process.exit(counts.failed > 0 ? 1 : 0);
}
