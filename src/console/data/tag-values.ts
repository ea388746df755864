/** Live values of tags: one signal each, so that a value that moves redraws its own text and nothing else. */
import { type Signal, signal } from '@preact/signals';
import type { TagFrame, TagValue } from './types.js';

const UNKNOWN: TagValue = { value: null, quality: '' };
const values = new Map<string, Signal<TagValue>>();

export function tagValue(unit: string, address: string): Signal<TagValue> {
  const key = `${unit} ${address}`;
  let value = values.get(key);
  if (!value) values.set(key, (value = signal(UNKNOWN)));
  return value;
}

/** Another site is shown. */
export function dropValues(): void {
  values.clear();
}

/** What nobody hears any more. @param kept `unit address`. */
export function forgetOthers(kept: ReadonlySet<string>): void {
  for (const [key, value] of values) if (!kept.has(key)) value.value = UNKNOWN;
}

/** A new connection: nothing is known until its snapshot tells it, so that no old value is shown as a live one. */
export function forgetValues(): void {
  for (const value of values.values()) value.value = UNKNOWN;
}

type TagListener = (frame: TagFrame) => void;
const tagListeners = new Set<TagListener>();

/** Every tag frame with its own time, for curves. @returns ends it. */
export function onTag(listener: TagListener): () => void {
  tagListeners.add(listener);
  return () => tagListeners.delete(listener);
}

export function receiveTag(frame: TagFrame): void {
  const { unit, address, value, quality } = frame;
  for (const listener of tagListeners) listener(frame);
  const held = tagValue(unit, address);
  const before = held.peek();
  if (before.value !== value || before.quality !== quality) held.value = { value, quality };
}
