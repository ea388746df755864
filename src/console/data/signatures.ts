/** Electronic signatures (contract 1, Authentication 7 and 8; decisions Q-AUTH-04): the password is entered for each of them. */
import { COLLECTIONS } from './procedure.js';
import { get, post } from './api.js';
import { site } from './plant.js';
import { config, reauthenticate } from './session.js';
import type { AuditRecord, LogPage, SignatureMeaning } from './types.js';

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
export async function signed(password: string, code: string, send: () => Promise<void>): Promise<void> {
  if (needsPassword()) await reauthenticate(password, code);
  await send();
}

export async function signResource(kind: string, name: string, meaning: string, reason: string): Promise<void> {
  await post('/api/v1/signatures', { target: { kind, name, site: site.peek() }, meaning, reason });
}

/** What makes sense for this resource in its present state, and for this person (the gateway judges it again). */
export async function readMeanings(kind: string, name: string): Promise<readonly SignatureMeaning[]> {
  const query = new URLSearchParams({ kind, name, site: site.peek() });
  return (await get<Pick<LogPage<SignatureMeaning>, 'items'>>(`/api/v1/signature-meanings?${query}`, { background: true })).items;
}

/** Who has signed the batch, from the audit trail: newest first. */
export interface Signed {
  readonly at: string;
  readonly who: string;
  readonly meaning: string;
  readonly reason: string;
}

const SIGNED_MAX = 50;

export async function readSigned(kind: string, name: string): Promise<readonly Signed[]> {
  const query = new URLSearchParams({ category: 'signature', kind, name, limit: String(SIGNED_MAX) });
  const { items } = await get<LogPage<AuditRecord>>(`/api/v1/audit?${query}`, { background: true });
  return items
    .filter((record) => record.action === 'Sign' && record.result === 'Success' && record.target.kind === kind && record.target.name === name)
    .map(({ timestamp, displayName, operatorReason, details }) => ({
      at: timestamp,
      who: displayName,
      meaning: String(details?.meaning ?? ''),
      reason: operatorReason ?? '',
    }));
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
