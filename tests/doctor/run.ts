/** `lineside doctor` as a process of its own. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { COMMAND } from '../support/command.js';
import type { Examination } from '../../src/doctor/doctor.js';

export interface DoctorRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export function doctor(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<DoctorRun> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [COMMAND, 'doctor', ...args], { env: { ...process.env, ...environment }, timeout: 60_000 }, (_, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });
}

export interface DoctorReport {
  readonly exitCode: number;
  readonly profile: string;
  readonly checks: readonly Examination[];
}

export async function doctorReport(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<DoctorReport> {
  const { out, err } = await doctor(['--json', ...args], environment);
  if (out === '') throw new Error(err);
  return JSON.parse(out) as DoctorReport;
}

/** A library that makes the disk of a process forget what it acknowledges (forgetful-disk.c), compiled into `work`. */
export function forgetfulDisk(work: string): string {
  const library = path.join(work, 'forgetful-disk.so');
  if (!existsSync(library)) execFileSync('cc', ['-O1', '-shared', '-fPIC', path.join(process.cwd(), 'tests/doctor/forgetful-disk.c'), '-o', library, '-ldl']);
  return library;
}
