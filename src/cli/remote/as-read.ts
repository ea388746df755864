/** Only as it was read: what somebody has written meanwhile is neither removed nor written over. */
import { isDeepStrictEqual } from 'node:util';
import { ApiError } from '../../client/api.js';
import type { Box } from './box.js';

export interface ReadOne<T = unknown> {
  readonly value: T;
  readonly etag: string | undefined;
  /** What people have written of it: what a unit or a device does by itself raises the ETag too. */
  readonly written: { readonly generation: unknown; readonly labels: Readonly<Record<string, string>> | undefined };
}

/** Some say their labels within `metadata`. */
interface ReadBody {
  readonly generation?: unknown;
  readonly labels?: Readonly<Record<string, string>>;
  readonly metadata?: ReadBody;
}

/** Undefined where nothing is read there. @throws ApiError. */
export async function readOne<T>(box: Box, address: string): Promise<ReadOne<T> | undefined> {
  const found = await box.api.read<T & ReadBody>(address);
  if (!found) return undefined;
  const body: ReadBody = found.value;
  const { generation, labels } = body.metadata ?? body;
  return { ...found, written: { generation, labels } };
}

/** More often than a device that connects and fails changes between a read and what is done then. */
const TRIES = 5;

/** Does what takes the ETag; again where only what it does by itself has raised it. @throws ApiError 412 where somebody has written it since. */
export async function onlyAsRead<T>(box: Box, address: string, read: ReadOne | undefined, act: (ifMatch: string | undefined) => Promise<T>): Promise<T> {
  let ifMatch = read?.etag;
  for (let tries = 1; ; tries += 1) {
    try {
      return await act(ifMatch);
    } catch (fault) {
      if (!(fault instanceof ApiError) || fault.status !== 412 || tries === TRIES) throw fault;
      const now = await readOne(box, address);
      if (!now || !isDeepStrictEqual(now.written, read?.written) || now.written.generation === undefined) throw fault;
      ifMatch = now.etag;
    }
  }
}
