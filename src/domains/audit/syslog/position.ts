/**
 * Up to which record the receiver is known to have read, over restarts and power cuts. It is put down after the receiver has it and never before, so a
 * lost or older one costs messages that arrive twice and no message. Whoever wants all of the trail sent again removes the file.
 */
import { open, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import * as v from 'valibot';

const SyslogGap = v.strictObject({
  first: v.pipe(v.number(), v.integer()),
  last: v.pipe(v.number(), v.integer()),
  why: v.string(),
  at: v.string(),
});
/** Records that were not sent, because nobody can read them. */
export type SyslogGap = Readonly<v.InferOutput<typeof SyslogGap>>;

const Position = v.strictObject({
  /** `host:port`: what another receiver has read is another matter. */
  receiver: v.string(),
  sequence: v.pipe(v.number(), v.integer(), v.minValue(0)),
  /** Of that record, hexadecimal; '' where it could not be read. */
  hash: v.string(),
  gaps: v.array(SyslogGap),
});
export type Position = Readonly<v.InferOutput<typeof Position>>;

const FILE = 'audit-syslog.json';

export class PositionFile {
  readonly #dataDir: string;
  readonly #file: string;
  /** One is written at a time. */
  #written: Promise<void> = Promise.resolve();

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
    this.#file = path.join(dataDir, FILE);
  }

  /** Undefined where there is none that can be used, and `why` where something is there. */
  async read(): Promise<{ readonly position?: Position; readonly why?: string }> {
    let text: string;
    try {
      text = await readFile(this.#file, 'utf8');
    } catch (fault) {
      const { code, message } = fault as NodeJS.ErrnoException;
      return code === 'ENOENT' ? {} : { why: `${FILE} cannot be read (${message})` };
    }
    const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Position), text);
    return parsed.success ? { position: parsed.output } : { why: `${FILE} does not hold what was written` };
  }

  /** @throws as `node:fs` does. */
  write(position: Position): Promise<void> {
    const written = this.#written.catch(() => undefined).then(() => this.#replace(`${JSON.stringify(position)}\n`));
    this.#written = written;
    return written;
  }

  /** Whole, or the one of before: the new one is on disk before it gets the name, and then the name is. */
  async #replace(text: string): Promise<void> {
    const beside = `${this.#file}.new`;
    const file = await open(beside, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(beside, this.#file);
    const folder = await open(this.#dataDir, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }
}
