/** Reads one module type package and ends: a hostile one takes its time and memory here, and not from whoever the gateway serves meanwhile. */
import { createHash } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { manifestIn } from './archive.js';
import { parseCaex } from './caex.js';
import type { ModulePackage } from './module-package.js';
import { readPackage } from './read-package.js';
import { Report, type ReportRow, Unreadable } from './report.js';

export interface PackageOrder {
  /** In base64. */
  readonly content: string;
  readonly fileName: string;
}

/** `faults`: why it is no package that can be read; `sha256`: of its bytes, '' where they were not reached. */
export type PackageRead = { readonly sha256: string } & ({ readonly module: ModulePackage } | { readonly faults: readonly ReportRow[] });

const BASE64 = /^[A-Za-z0-9+/\s]*={0,2}\s*$/;

async function read({ content, fileName }: PackageOrder): Promise<PackageRead> {
  const report = new Report();
  let sha256 = '';
  try {
    if (!BASE64.test(content)) throw new Unreadable(fileName, 'content is no base64');
    const bytes = Buffer.from(content, 'base64');
    sha256 = createHash('sha256').update(bytes).digest('hex');
    const manifest = await manifestIn(bytes, fileName, report);
    const module = readPackage(parseCaex(manifest.bytes, manifest.name), manifest.name, report);
    return { module, sha256 };
  } catch (fault) {
    if (!(fault instanceof Unreadable)) throw fault;
    return { sha256, faults: [...report.rows.filter(({ severity }) => severity === 'error'), { severity: 'error', path: fault.path, message: fault.message }] };
  }
}

parentPort?.postMessage(await read(workerData as PackageOrder));
