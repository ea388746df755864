/**
 * What the kernel of the machine tells of it in files: /proc, /sys, /etc, /run. They are read below a root folder, so that a recorded
 * tree of another machine can be looked at as if it were this one.
 */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import path from 'node:path';

export class Machine {
  /** '/' for the machine itself. */
  readonly root: string;

  constructor(root = '/') {
    this.root = root;
  }

  /** Whether it is this machine and not a recording of one: only then can anything be measured, and programs be asked. */
  get isHere(): boolean {
    return this.root === '/';
  }

  at(file: string): string {
    return path.join(this.root, file);
  }

  /** Text without the zero bytes and spaces around it; undefined where the file is not there or may not be read. */
  text(file: string): string | undefined {
    try {
      return readFileSync(this.at(file), 'utf8').replaceAll('\0', ' ').trim();
    } catch {
      return undefined;
    }
  }

  /** The text as a number; undefined where it is none. */
  number(file: string): number | undefined {
    const text = this.text(file);
    if (text === undefined || text === '') return undefined;
    const value = Number(text);
    return Number.isFinite(value) ? value : undefined;
  }

  lines(file: string): readonly string[] {
    const text = this.text(file);
    return text === undefined || text === '' ? [] : text.split('\n');
  }

  /** Names in a folder, sorted; empty where it is not there. */
  names(folder: string): readonly string[] {
    try {
      return readdirSync(this.at(folder)).sort();
    } catch {
      return [];
    }
  }

  exists(file: string): boolean {
    try {
      statSync(this.at(file));
      return true;
    } catch {
      return false;
    }
  }

  /** Where a link points to, as it is written there; undefined where it is no link. */
  link(file: string): string | undefined {
    try {
      return readlinkSync(this.at(file));
    } catch {
      return undefined;
    }
  }
}
