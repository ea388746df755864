/**
 * Files that the settings name and that may lie on a share, read while the plant is controlled: beside the thread that asks, and with an end. A share
 * that hangs keeps the thread of a read for as long as it hangs, and the process has four such threads for everything: each file is read once at a
 * time whoever asks for it, and no more than two of them are.
 */
import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import type { Clock } from './clock.js';
import { checkPlain, UnfitFile } from './plain-file.js';
import { noteStuck } from './stuck-threads.js';

const ANSWER_MS = 10_000;
const AT_ONCE = 2;
const CHUNK_BYTES = 64 * 1024;

interface Answering {
  readonly clock: Pick<Clock, 'after'>;
  /** 10 s. */
  readonly answerMs?: number;
}

const underWay = new Map<string, Promise<Buffer>>();

/** @throws UnfitFile where it is no plain file, is longer than `bytesMax` or does not answer; as `node:fs` does where it cannot be read. */
export async function readOutsideFile(file: string, bytesMax: number, answering: Answering): Promise<Buffer> {
  const { clock, answerMs = ANSWER_MS } = answering;
  let cancel = (): void => undefined;
  const late = new Promise<never>((_resolve, reject) => {
    cancel = clock.after(answerMs, () => reject(new UnfitFile(`${file} does not answer: the share that it lies on may be away`)));
  });
  try {
    return await Promise.race([begun(file, bytesMax, answering, late), late]);
  } finally {
    cancel();
  }
}

async function begun(file: string, bytesMax: number, { clock, answerMs = ANSWER_MS }: Answering, late: Promise<never>): Promise<Buffer> {
  for (let reading = underWay.get(file); ; reading = underWay.get(file)) {
    if (reading) return reading;
    if (underWay.size < AT_ONCE) break;
    await Promise.race([late, ...[...underWay.values()].map((other) => other.catch(() => undefined))]);
  }
  let ended = (): void => undefined;
  const cancel = clock.after(answerMs, () => (ended = noteStuck(`a read of ${file}`)));
  const reading = readWhole(file, bytesMax).finally(() => {
    underWay.delete(file);
    cancel();
    ended();
  });
  underWay.set(file, reading);
  return reading;
}

async function readWhole(file: string, bytesMax: number): Promise<Buffer> {
  checkPlain(file, await stat(file)); // before it is opened: that alone sets a watchdog going
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    checkPlain(file, await handle.stat());
    const chunks: Buffer[] = [];
    for (let bytes = 0; ; ) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES));
      if (bytesRead === 0) return Buffer.concat(chunks);
      bytes += bytesRead;
      if (bytes > bytesMax) throw new UnfitFile(`${file} is longer than ${bytesMax} bytes`);
      chunks.push(buffer.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
}
