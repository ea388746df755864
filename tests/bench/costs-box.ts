/** A box that is measured from outside: its memory, its share of the processor and its data directory, and a person who is signed in. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type ApiAnswer, type ApiClient, eventually } from '../support/api-client.js';
import type { ApplianceProcess } from '../support/appliance-process.js';
import { median } from './judge.js';
import type { Manifest } from './product-box.js';
import { SITE } from './costs-plant.js';

const PERSON = { username: 'anna', password: 'a long bench password' };
const MANIFESTS_MAX = 1000;

export function ok<Answer extends Pick<ApiAnswer, 'status' | 'text'>>(answer: Answer, what: string): Answer {
  if (answer.status >= 300) throw new Error(`${what}: ${answer.status} ${answer.text.slice(0, 800)}`);
  return answer;
}

export async function firstPerson(box: ApplianceProcess): Promise<ApiClient> {
  ok(await box.api.post('/api/v1/auth/first-admin', { code: await box.commissioningCode(), ...PERSON }), 'first administrator');
  return person(box);
}

export async function person(box: ApplianceProcess): Promise<ApiClient> {
  return box.api.with(`Bearer ${ok(await box.api.post('/api/v1/auth/login', PERSON), 'sign-in').body.accessToken as string}`);
}

export async function apply(api: ApiClient, manifests: readonly Manifest[]): Promise<void> {
  for (let from = 0; from < manifests.length; from += MANIFESTS_MAX) ok(await api.post('/api/v1/apply', manifests.slice(from, from + MANIFESTS_MAX)), 'apply');
}

/** Until all units scan and all devices are measured. */
export function atWork(api: ApiClient): Promise<boolean> {
  return eventually(
    'all units scan and all devices answer',
    async () => {
      const units = ok(await api.get(`${SITE}/units`), 'units').body as readonly { readonly runtimeReady: boolean }[];
      const devices = ok(await api.get(`${SITE}/iomodules`), 'devices').body as readonly { readonly connectivity: { readonly verdict: string } }[];
      return units.every((unit) => unit.runtimeReady) && devices.every(({ connectivity }) => connectivity.verdict === 'measured');
    },
    120_000,
  );
}

/** Resident, MB; the middle of three looks. */
export async function residentMb(pid: number): Promise<number> {
  const looks: number[] = [];
  for (let n = 0; n < 3; n += 1) {
    looks.push(Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024);
    await pause(200);
  }
  return median(looks);
}

/** Of all threads since the start of the process, also of those that have ended; ms. */
export function processorMs(pid: number): number {
  // of the whole process the kernel tells hundredths of a second only; a thread that ends takes with it what it has counted, and none of these does
  return readdirSync(`/proc/${pid}/task`).reduce((sum, task) => {
    try {
      return sum + Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
    } catch {
      return sum;
    }
  }, 0);
}

/** ms of the processor per second of the clock. */
export async function share(pid: number, windowMs: number): Promise<number> {
  const [beganMs, before] = [performance.now(), processorMs(pid)];
  await pause(windowMs);
  return ((processorMs(pid) - before) / (performance.now() - beganMs)) * 1000;
}

/** Bytes that the files below have, kB. */
export function folderKb(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const place = path.join(folder, entry.name);
    if (entry.isDirectory()) return sum + folderKb(place);
    try {
      return sum + statSync(place).size / 1024;
    } catch {
      return sum; // it was there a moment ago
    }
  }, 0);
}
