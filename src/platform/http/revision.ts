/** Strong ETags and their conditions (decisions Q-ERR-14). */
import { createHash } from 'node:crypto';
import { Refusal } from '../base/refusal.js';

export function etagOf(revision: number | string): string {
  return `"${revision}"`;
}

/** For a read body that also shows what is not stored with the resource: every member is under the tag. */
export function etagOfBody(revision: number, body: unknown): string {
  return etagOf(`${revision}-${createHash('sha256').update(JSON.stringify(body)).digest('hex').slice(0, 12)}`);
}

/** Whether a list of strong tags names the revision; a tag that also covers derived members is `"<revision>-<digest>"`. A weak one matches nothing (RFC 9110, 13.1.1). */
export function namesRevision(list: string, revision: number | string): boolean {
  if (list.trim() === '*') return true;
  return list.split(',').some((entry) => /^"([^"-]*)(?:-[0-9a-f]+)?"$/.exec(entry.trim())?.[1] === String(revision));
}

/** Whether a list such as `"4", W/"5"` or `*` names the tag. */
export function namesTag(list: string, etag: string): boolean {
  if (list.trim() === '*') return true;
  return list.split(',').some((entry) => entry.trim().replace(/^W\//, '') === etag);
}

/**
 * Step 14: `If-Match` is optional on PUT and DELETE. `served`: the tag that a read of the resource bears now, where it covers more
 * than the revision.
 * @throws Refusal 412 `precondition_failed`.
 */
export function checkIfMatch(ifMatch: string | undefined, revision: number | string, served: () => string = () => etagOf(revision)): void {
  if (ifMatch === undefined || namesRevision(ifMatch, revision)) return;
  throw new Refusal('precondition', 'the resource has changed since it was read; read it again and repeat the change', {
    code: 'precondition_failed',
    currentETag: served(),
  });
}
