/**
 * Whether a file that is open is still the one at its path. A folder that was renamed, deleted or unmounted under a running process
 * takes writes and syncs as ever, and nobody finds them at the next start: SQLite does not look, so the ledger does.
 */
import { statSync } from 'node:fs';
import path from 'node:path';

interface Place {
  readonly file: string;
  readonly dev: number;
  readonly ino: number;
}

export class FilePlaces {
  readonly #places: readonly Place[];

  /** Of files that are open; one that is not there is not looked at. */
  constructor(files: readonly string[]) {
    this.#places = files.flatMap((file): Place[] => {
      const found = statSync(file, { throwIfNoEntry: false });
      return found ? [{ file, dev: found.dev, ino: found.ino }] : [];
    });
  }

  /** Why what is written now would not be found again; null while everything is where it was opened. */
  get fault(): string | null {
    for (const { file, dev, ino } of this.#places) {
      const found = lookedUp(file);
      if (found?.dev === dev && found.ino === ino) continue;
      const what = `${path.basename(file)} is no longer in ${path.dirname(file)} where it was opened`;
      return `${what}: what is written would be gone after the next start; put the data directory back as it was, or start again with the right one`;
    }
    return null;
  }
}

function lookedUp(file: string): { readonly dev: number; readonly ino: number } | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined; // a volume that does not answer: what it would take is as uncertain
  }
}
