/**
 * A command that waits on a batch or an ad-hoc root to be judged by its controller (contract 3, Command rules). It stands in
 * the status, which no request can write; the annotation beside it is a copy for whoever reads the resource, and nothing
 * ever acts on it (ADR 0020).
 */
import * as v from 'valibot';
import { COMMANDS } from '../../../runtime/vocabulary/states.js';
import type { Resource } from '../../platform/store/resource.js';

/** The copy to be read (contract 3, Command rules; decisions Q-CMD-05). */
export const COMMAND_ANNOTATION = 'lineside.io/command';

const By = v.strictObject({
  accountId: v.string(),
  displayName: v.string(),
  actorType: v.picklist(['human', 'apiKey', 'component']),
  component: v.optional(v.string()),
  sourceIP: v.optional(v.string()),
});

export const PendingCommand = v.strictObject({
  command: v.picklist(COMMANDS),
  reason: v.string(),
  by: By,
  at: v.string(),
  correlationID: v.string(),
  /** The alarm whose exceptionAction it is. */
  alarm: v.optional(v.string()),
});
export type PendingCommand = v.InferOutput<typeof PendingCommand>;

/** Part of the status of whatever takes commands; `unknown` because it is read back from a disk. */
export interface Commanded {
  readonly pendingCommand?: unknown;
}

/** Rule of the verdict on an order that cannot be read back. */
export const UNREADABLE_ORDER = 'unreadable-order';

type Read = { readonly pending: PendingCommand; readonly unreadable?: undefined } | { readonly pending?: undefined; readonly unreadable: string };

/** The order on a resource; undefined while none waits. */
export function orderOn({ status }: Resource): Read | undefined {
  const { pendingCommand } = status as Commanded;
  if (pendingCommand === undefined) return undefined;
  const read = v.safeParse(PendingCommand, pendingCommand);
  if (read.success) return { pending: read.output };
  const [{ path, message }] = read.issues;
  return { unreadable: `${path?.map(({ key }) => String(key)).join('.') ?? 'the order'}: ${message}` };
}

export function awaitsVerdict({ status }: Resource): boolean {
  return (status as Commanded).pendingCommand !== undefined;
}

/** What a put carries to give an order: itself, and its copy. */
export function ordered({ metadata, status }: Resource, pending: PendingCommand): { readonly status: unknown; readonly annotations: Readonly<Record<string, string>> } {
  return { status: { ...(status as object), pendingCommand: pending }, annotations: { ...metadata.annotations, [COMMAND_ANNOTATION]: JSON.stringify(pending) } };
}

export function withoutOrder<Status extends object>(status: Status): Status {
  const { pendingCommand: _taken, ...rest } = status as Status & Commanded;
  return rest as Status;
}

/** The annotations of a resource whose order has been taken. */
export function withoutCopy({ metadata }: Resource): Readonly<Record<string, string>> {
  const { [COMMAND_ANNOTATION]: _copy, ...annotations } = metadata.annotations;
  return annotations;
}
