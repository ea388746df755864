/**
 * uWebSockets.js, loaded. Its binary is one for each version of Node and wants a C library of a certain age (ADR 0044), so where it does not load
 * the start says which Node and system do, in place of what the loader of the system says.
 */
import { createRequire } from 'node:module';
import type library from 'uWebSockets.js';
import { UnloadableLibrary } from '../base/unloadable-library.js';

/** By `process.versions.modules`: what the binaries that the package of the library holds need, as their symbols say. */
const WORKS = 'Node 20 on Debian 12 or later (glibc 2.27), Node 22 and Node 24 on Debian 13 or later (glibc 2.38), on x86-64 and ARM64';

/** @throws UnloadableLibrary */
function load(): typeof library {
  try {
    return createRequire(import.meta.url)('uWebSockets.js') as typeof library;
  } catch (fault) {
    throw new UnloadableLibrary(
      `its web server (uWebSockets.js) cannot be loaded by Node ${process.versions.node} on ${process.platform} ${process.arch}${glibc()}; what works is ${WORKS} (${reasonOf(fault)})`,
    );
  }
}

/** The library of the system, where it is GNU's. */
function glibc(): string {
  if (process.report === undefined) return '';
  const { header } = process.report.getReport() as { readonly header?: { readonly glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime === undefined ? '' : ` with glibc ${header.glibcVersionRuntime}`;
}

/** What the loader said: the library puts it behind a page of its own. */
function reasonOf(fault: unknown): string {
  const lines = String(fault instanceof Error ? fault.message : fault).split('\n');
  return lines.filter((line) => line.trim() !== '' && !line.startsWith('This version of uWS.js') && !line.startsWith('- '))[0]?.trim() ?? 'no reason given';
}

export const uWS = load();
