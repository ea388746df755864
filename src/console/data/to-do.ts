/** What is to be put right, as the gateway said it first and says it now. Pure. */
import type { PreflightAnswer } from './types.js';

export type PreflightCheck = PreflightAnswer['checks'][number];

/** It keeps the command from going on; a warning is only told. */
export function isStop({ severity }: PreflightCheck): boolean {
  return severity === 'error';
}

export interface ToDo {
  /** Of one module in two phases there are two. */
  readonly key: string;
  readonly check: PreflightCheck;
  readonly isDone: boolean;
  /** It keeps the command from going on; the others are only told. */
  readonly isNeeded: boolean;
}

/** What keeps the command from going on comes before what is only told of the same. */
function keyed(items: readonly Omit<ToDo, 'key'>[]): readonly ToDo[] {
  const counts = new Map<string, number>();
  return items
    .toSorted((a, b) => Number(b.isNeeded) - Number(a.isNeeded))
    .map((item) => {
      const about = `${item.check.check} ${item.check.element}`;
      const count = counts.get(about) ?? 0;
      counts.set(about, count + 1);
      return { ...item, key: `${about} ${count}` };
    });
}

/** @param before of the same batch and command. */
export function listOf(before: readonly ToDo[], problems: readonly PreflightCheck[], lifted: readonly PreflightCheck[]): readonly ToDo[] {
  const told = keyed([...problems.map((check) => ({ check, isDone: false, isNeeded: isStop(check) })), ...lifted.map((check) => ({ check, isDone: true, isNeeded: true }))]);
  const known = new Map(told.map((item) => [item.key, item]));
  // the order in which they were found stays: nothing moves under a finger
  const kept = before.flatMap((item) => known.get(item.key) ?? (isKept(item) ? [{ ...item, isDone: true }] : []));
  const keys = new Set(kept.map(({ key }) => key));
  return [...kept, ...told.filter(({ key }) => !keys.has(key))];
}

/** That somebody has put it right is worth a tick; a state that was on its way, a value that has come back by itself, or a command that was taken back, is not. */
function isKept({ isNeeded, check }: ToDo): boolean {
  return check.told?.code !== 'not-in-state' && (isNeeded || check.check === 'modes');
}
