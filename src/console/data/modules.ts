/** What a person does at a control module (contract 2, Equipment mode and tag write rules). The gateway judges each of them. */
import { get, post } from './api.js';
import { readModules, site } from './plant.js';
import type { Mode, ModuleInfo } from './types.js';

export const MODES: readonly Mode[] = ['Automatic', 'Semi-Automatic', 'Manual'];

function root(): string {
  return `/api/v1/sites/${encodeURIComponent(site.peek())}`;
}

export function readModule(name: string): Promise<ModuleInfo> {
  return get<ModuleInfo>(`${root()}/controlmodules/${encodeURIComponent(name)}`, { background: true });
}

export async function setMode(name: string, mode: Mode): Promise<void> {
  await post(`${root()}/mode`, { kind: 'ControlModule', name, mode });
  await readModules();
}

export async function writeTag(module: string, tag: string, value: number | boolean | string): Promise<void> {
  await post(`${root()}/controlmodules/${encodeURIComponent(module)}/tags/${encodeURIComponent(tag)}`, { value });
}
