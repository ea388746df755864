/** Electronic signatures (contract 1, Authentication 7 and 8; decisions Q-AUTH-04): the password is entered for each of them. */
import { COLLECTIONS } from './procedure.js';
import { get, post } from './api.js';
import { site } from './plant.js';
import { config, reauthenticate } from './session.js';
import type { ListedSignature, LogPage, Second, SignatureMeaning } from './types.js';

/** With accounts of this box, who signs proves who he is with his password. */
export function needsPassword(): boolean {
  return config.value?.authMode === 'local';
}

/** An account of the organisation has no password here: only a sign-in there proves who signs (contract 1, Authentication 7). */
export function needsSignIn(): boolean {
  return config.value?.authMode === 'oidc';
}

/** Where he proves it, and comes back to this view; '' while it is not known. */
export function signInAddress(): string {
  const path = config.value?.oidc?.loginPath;
  return path === undefined ? '' : `${path}?${new URLSearchParams({ reauthenticate: 'true', redirect: location.pathname + location.search + location.hash })}`;
}

/** Proves who signs, then sends what is signed. */
export async function signed(password: string, second: Second, send: () => Promise<void>): Promise<void> {
  if (needsPassword()) await reauthenticate(password, second);
  await send();
}

/** @param digest of what was shown, as `readMeanings` told it: what has changed since is not signed unseen. */
export async function signResource(kind: string, name: string, meaning: string, reason: string, digest?: string): Promise<void> {
  await post('/api/v1/signatures', { target: { kind, name, site: site.peek() }, meaning, reason, ...(digest === undefined ? {} : { digest }) });
}

/** What makes sense for this resource in its present state, and for this person (the gateway judges it again). */
export async function readMeanings(kind: string, name: string): Promise<{ readonly items: readonly SignatureMeaning[]; readonly digest?: string }> {
  const query = new URLSearchParams({ kind, name, site: site.peek() });
  return get(`/api/v1/signature-meanings?${query}`, { background: true });
}

/** Who has signed, newest first, and what it is worth by now. */
export interface Signed {
  readonly id: string;
  readonly at: string;
  readonly who: string;
  readonly meaning: string;
  readonly state: string;
  /** All of it in one sentence. */
  readonly words: string;
}

const SIGNED_MAX = 50;
/** Shown with what it takes back. */
const WITHDRAWAL = 'signature-withdraw';

export async function readSigned(kind: string, name: string): Promise<readonly Signed[]> {
  const query = new URLSearchParams({ kind, name, site: site.peek(), limit: String(SIGNED_MAX) });
  const { items } = await get<LogPage<ListedSignature>>(`/api/v1/signatures?${query}`, { background: true });
  return items
    .filter(({ meaning }) => meaning !== WITHDRAWAL)
    .map(({ id, signedAt, signedBy, meaning, state, words }) => ({ id, at: signedAt, who: signedBy.displayName, meaning, state, words }));
}

/** What a person does to a chart in Manual (ADR 0007). */
export type ChartChange =
  /** Fires a transition: `<from>-><to>#<index>`. */
  | { readonly change: 'force'; readonly transition: string }
  /** Enters a step and leaves others in the same moment. */
  | { readonly change: 'activate'; readonly step: string; readonly leave: readonly string[] }
  | { readonly change: 'deactivate'; readonly step: string };

export interface SteeredElement {
  readonly kind: string;
  readonly name: string;
}

export async function changeActiveStep({ kind, name }: SteeredElement, change: ChartChange, reason: string): Promise<void> {
  await post(`/api/v1/sites/${encodeURIComponent(site.peek())}/${COLLECTIONS[kind]}/${encodeURIComponent(name)}/active-step`, { ...change, reason });
}
