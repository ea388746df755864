/** What a person does at a control module, and the modes of elements (contract 2, Equipment mode and tag write rules). The gateway judges each of them. */
import { post, put, remove } from './api.js';
import { site } from './plant.js';
import type { Level, Mode } from './types.js';

export const MODES: readonly Mode[] = ['Automatic', 'Semi-Automatic', 'Manual'];

function root(): string {
  return `/api/v1/sites/${encodeURIComponent(site.peek())}`;
}

/** @param kind a control module or an element of a procedure. @param also other levels of the same batch or run, in the same moment. */
export async function setMode(kind: string, name: string, mode: Mode, also: readonly Pick<Level, 'kind' | 'name'>[] = []): Promise<void> {
  const named = also.map((level) => ({ kind: level.kind, name: level.name }));
  await post(`${root()}/mode`, { kind, name, mode, ...(named.length > 0 ? { also: named } : {}) });
}

export async function writeTag(module: string, tag: string, value: number | boolean | string): Promise<void> {
  await post(`${root()}/controlmodules/${encodeURIComponent(module)}/tags/${encodeURIComponent(tag)}`, { value });
}

/** Of a value that no module has. */
export async function writeUnitTag(unit: string, address: string, value: number | boolean | string): Promise<void> {
  await post(`${root()}/units/${encodeURIComponent(unit)}/tags/${encodeURIComponent(address)}`, { value });
}

/** Of its devices in latched fault (ADR 0030). @param moves also of one that moves at once, because its command stands. */
export async function resetFault(module: string, moves: boolean): Promise<void> {
  await post(`${root()}/controlmodules/${encodeURIComponent(module)}/reset-fault`, { moves });
}

/** Needs `controlmodule:tune`; in any mode, and while the unit works (ADR 0025). */
export async function tuneParameter(module: string, parameter: string, value: number | string | boolean, reason: string): Promise<void> {
  await put(`${root()}/controlmodules/${encodeURIComponent(module)}/parameters`, { values: { [parameter]: value }, reason });
}

export interface BypassWish {
  readonly reason: string;
  readonly duration: string;
  /** Blocks; undefined: every interlock of the module. */
  readonly interlocks: readonly string[] | undefined;
}

function bypassAt(module: string): string {
  return `${root()}/controlmodules/${encodeURIComponent(module)}/interlock/bypass`;
}

/** Needs `interlock:bypass`, a permission of its own (contract 3, Additional routes); it ends by itself. */
export async function bypassInterlocks(module: string, { reason, duration, interlocks }: BypassWish): Promise<void> {
  await post(bypassAt(module), { reason, duration, ...(interlocks ? { interlocks } : {}) });
}

export async function endBypass(module: string, reason: string): Promise<void> {
  await remove(bypassAt(module), reason === '' ? undefined : { reason });
}
