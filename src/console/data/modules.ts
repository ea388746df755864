/** What a person does at a control module, and the modes of elements (contract 2, Equipment mode and tag write rules). The gateway judges each of them. */
import { post } from './api.js';
import { site } from './plant.js';
import type { Mode } from './types.js';

export const MODES: readonly Mode[] = ['Automatic', 'Semi-Automatic', 'Manual'];

function root(): string {
  return `/api/v1/sites/${encodeURIComponent(site.peek())}`;
}

/** @param kind a control module or an element of a procedure. */
export async function setMode(kind: string, name: string, mode: Mode): Promise<void> {
  await post(`${root()}/mode`, { kind, name, mode });
}

export async function writeTag(module: string, tag: string, value: number | boolean | string): Promise<void> {
  await post(`${root()}/controlmodules/${encodeURIComponent(module)}/tags/${encodeURIComponent(tag)}`, { value });
}
