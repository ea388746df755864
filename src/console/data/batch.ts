/** The batch that is open on the screen: its detail and messages, and what a person does to it. */
import { effect, signal } from '@preact/signals';
import { ApiError, get, post } from './api.js';
import { batches, batchTouched, ready, site } from './plant.js';
import { can } from './session.js';
import { isFinal } from './states.js';
import { coalesced, everySecond } from './timers.js';
import type { BatchDetail, BatchMessage, Command } from './types.js';

const MESSAGES_MAX = 50;

export const selected = signal('');
export const detail = signal<BatchDetail | null>(null);
export const messages = signal<readonly BatchMessage[]>([]);

function path(name: string): string {
  return `/api/v1/sites/${encodeURIComponent(site.peek())}/batches/${encodeURIComponent(name)}`;
}

export function select(name: string): void {
  if (selected.peek() === name) return;
  selected.value = name;
  detail.value = null;
  messages.value = [];
  void read(false);
}

async function read(background: boolean): Promise<void> {
  const name = selected.peek();
  if (name === '') return;
  try {
    const [batch, page] = await Promise.all([
      get<BatchDetail>(path(name), { background }),
      can('batch:messages') ? get<{ items: BatchMessage[] }>(`${path(name)}/messages?limit=${MESSAGES_MAX}`, { background }) : { items: [] },
    ]);
    if (selected.peek() !== name) return;
    detail.value = batch;
    if (page.items[0]?.id !== messages.peek()[0]?.id || page.items.length !== messages.peek().length) messages.value = page.items;
  } catch (fault) {
    if (fault instanceof ApiError && fault.status === 404) selected.value = '';
  }
}

const readSoon = coalesced(100, () => read(true));

export function startBatch(): void {
  effect(() => {
    const { batch } = batchTouched.value;
    if (batch !== '' && batch === selected.peek()) readSoon();
  });
  // the batch that matters most is open without a touch
  effect(() => {
    const found = batches.value;
    if (ready.value && !found.some(({ name }) => name === selected.peek())) select(found[0]?.name ?? '');
  });
  everySecond(async () => {
    const batch = detail.peek();
    if (batch && !isFinal(batch.phase) && !document.hidden) await read(true);
  });
}

/** A 200 means recorded; the verdict shows as a new state or as `commandRejection` (contract 3, Command rules). */
export async function command(name: string, word: Command, reason: string): Promise<void> {
  await post(`/api/v1/sites/${encodeURIComponent(site.peek())}/command`, { kind: 'Batch', name, command: word, ...(reason === '' ? {} : { reason }) });
  readSoon();
}

export interface PreflightCheck {
  readonly check: string;
  readonly ok: boolean;
  readonly message: string;
}

export async function preflight(name: string): Promise<readonly PreflightCheck[]> {
  if (!can('batch:preflight')) return [];
  const answer = await post<{ readonly checks: readonly PreflightCheck[] }>(`/api/v1/sites/${encodeURIComponent(site.peek())}/batches/preflight`, { batch: name });
  return answer.checks.filter(({ ok }) => !ok);
}
