/**
 * The product as its service starts it (`scripts/process-options.json`, settings of its own as shipped): a process with nothing of the
 * bench in its environment, and its command line, signed in as its first administrator.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Ended, LinesideCommand } from '../cli/lineside-command.js';
import { type ApplianceProcess, applianceProcess } from '../support/appliance-process.js';

export const PROCESS_OPTIONS = JSON.parse(readFileSync('scripts/process-options.json', 'utf8')) as {
  readonly env: Readonly<Record<string, string>>;
  readonly execArgv: readonly string[];
};

/** What test plants do without, as shipped. */
const AS_SHIPPED = { LINESIDE_RUNTIME__REALTIME: 'true', LINESIDE_RUNTIME__MAXTHREADS: '12', LINESIDE_LOG_LEVEL: 'info' };

export const DEMO = { LINESIDE_DEMO__ENABLED: 'true', LINESIDE_GATEWAY__OPERATINGMODE: 'development' };

/** Settings in the environment, beside those as shipped. */
export function productBox(settings: Readonly<Record<string, string>> = {}, dataDir?: string): Promise<ApplianceProcess> {
  const environment = { ...PROCESS_OPTIONS.env, NODE_OPTIONS: PROCESS_OPTIONS.execArgv.join(' '), ...AS_SHIPPED, ...settings };
  return applianceProcess({ bare: true, environment, ...(dataDir === undefined ? {} : { dataDir }) });
}

const PASSWORD = 'a long bench password';

export interface SignedIn {
  /** @throws Error with what it printed when it fails. */
  run(...args: readonly string[]): Promise<Ended>;
  /** Authorization header of the same person. */
  readonly credential: string;
  remove(): void;
}

/** @param url the box, or what stands before it. */
export async function firstAdministrator(box: ApplianceProcess, url = box.base): Promise<SignedIn> {
  const folder = mkdtempSync(path.join(tmpdir(), 'lineside-bench-'));
  const command = new LinesideCommand(folder);
  const run = async (args: readonly string[], input = ''): Promise<Ended> => {
    const ended = await command.run(args, input);
    if (ended.code !== 0) throw new Error(`lineside ${args.join(' ')}: ${ended.code} ${ended.err}${ended.out}`);
    return ended;
  };
  await run(['login', url, '--code', await box.commissioningCode(), '--user', 'anna', '--password-stdin'], `${PASSWORD}\n`);
  const session = await box.api.post('/api/v1/auth/login', { username: 'anna', password: PASSWORD });
  if (session.status !== 200) throw new Error(`sign-in: ${session.status} ${session.text}`);
  return { run: (...args) => run(args), credential: `Bearer ${session.body.accessToken as string}`, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

const DEMO_FOLDER = fileURLToPath(new URL('../../demo/', import.meta.url));

/** Of the demonstration plant, in the order of its files. */
export function demoManifests(): Manifest[] {
  return readdirSync(DEMO_FOLDER)
    .sort()
    .flatMap((file) => JSON.parse(readFileSync(path.join(DEMO_FOLDER, file), 'utf8')) as Manifest[]);
}
