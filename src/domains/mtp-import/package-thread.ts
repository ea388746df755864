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

const NO_BASE64 = /[^A-Za-z0-9+/=\s]/;
const NO_PADDING = /[^=\s]/;
const PADDING_MAX = 2;

/** @returns why it is no base64; ''. In one pass: a pattern of the whole goes back from its end as often as there are characters. */
function base64Fault(content: string): string {
  const { index = -1 } = NO_BASE64.exec(content) ?? {};
  if (index >= 0) return `content is no base64: its character ${index + 1} is ${JSON.stringify(content[index])}`;
  const padded = content.indexOf('=');
  if (padded < 0) return '';
  const padding = content.slice(padded);
  if (NO_PADDING.test(padding)) return `content is no base64: it goes on behind the = at its character ${padded + 1}`;
  return padding.replaceAll(/\s/g, '').length > PADDING_MAX ? 'content is no base64: it ends with more than two =' : '';
}

async function read({ content, fileName }: PackageOrder): Promise<PackageRead> {
  const report = new Report();
  let sha256 = '';
  try {
    const fault = base64Fault(content);
    if (fault !== '') throw new Unreadable(fileName, fault);
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
