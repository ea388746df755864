/**
 * What the kernel of the machine tells of it in files: /proc, /sys, /etc, /run. They are read below a root folder, so that a recorded
 * tree of another machine can be looked at as if it were this one.
 */
import { readdirSync, readlinkSync, statSync } from 'node:fs';
import path from 'node:path';
import { readPlainFile, UnfitFile } from '../platform/base/plain-file.js';

/** The longest that are read are those of 10,000 sockets. */
const FILE_BYTES_MAX = 4 * 1024 ** 2;

export class Machine {
  /** '/' for the machine itself. */
  readonly root: string;
  readonly #unread = new Set<string>();

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

  /** What stands in the place of a file and was not read, each a sentence. */
  get unread(): readonly string[] {
    return [...this.#unread];
  }

  /** Text without the zero bytes and spaces around it; undefined where the file is not there, is none or may not be read. */
  text(file: string): string | undefined {
    try {
      return readPlainFile(this.at(file), FILE_BYTES_MAX).toString('utf8').replaceAll('\0', ' ').trim();
    } catch (fault) {
      if (fault instanceof UnfitFile) this.#unread.add(fault.message);
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
