/** The two things a stream test replaces: the clock and the wire. */
import type { Clock } from '../../../src/platform/base/clock.js';
import type { Caller } from '../../../src/platform/http/caller.js';
import type { SessionState, SessionWatch } from '../../../src/platform/http/stream-port.js';
import type { TagSource } from '../../../src/platform/stream/channel.js';
import type { Wire } from '../../../src/platform/stream/subscriber.js';
import { at } from '../../support/at.js';
import type { Places } from '../../../src/platform/stream/filter.js';

/** A clock that moves when told; due calls run in the order of their times. */
export class ScriptedClock implements Clock {
  #nowMs = 0;
  #serial = 0;
  #due: { atMs: number; serial: number; call: () => void }[] = [];
  readonly #startMs = Date.UTC(2026, 0, 31, 9, 5, 7, 123);

  wallMs(): number {
    return this.#startMs + this.#nowMs;
  }

  monoMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, call: () => void): () => void {
    const entry = { atMs: this.#nowMs + delayMs, serial: this.#serial++, call };
    this.#due.push(entry);
    return () => {
      this.#due = this.#due.filter((other) => other !== entry);
    };
  }

  advance(ms: number): void {
    const until = this.#nowMs + ms;
    for (;;) {
      const next = this.#due.filter(({ atMs }) => atMs <= until).sort((a, b) => a.atMs - b.atMs || a.serial - b.serial)[0];
      if (!next) break;
      this.#due = this.#due.filter((other) => other !== next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.call();
    }
    this.#nowMs = until;
  }

  /** A stall of the event loop: time passes and nothing runs. */
  stall(ms: number): void {
    this.#nowMs += ms;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: frames are looked at member by member
export type Received = any;

/** A wire with room for a number of frames; `take` makes room again. */
export class ScriptedWire implements Wire {
  readonly texts: string[] = [];
  room = Infinity;
  overran = false;
  corks = 0;

  ready(): boolean {
    return this.room > 0;
  }

  send(bytes: Uint8Array): boolean {
    this.texts.push(Buffer.from(bytes).toString('utf8'));
    this.room -= 1;
    return this.room > 0;
  }

  cork(call: () => void): void {
    this.corks += 1;
    call();
  }

  overrun(): void {
    this.overran = true;
  }

  /** WebSocket frames, parsed; clears what was received. */
  take(): Received[] {
    return this.texts.splice(0).map((text) => JSON.parse(text));
  }

  /** Server-sent events, parsed; clears what was received. */
  takeEvents(): { readonly id?: string; readonly event?: string; readonly data?: Received; readonly comment?: string }[] {
    return parseEvents(this.texts.splice(0).join(''));
  }
}

export function parseEvents(text: string): { readonly id?: string; readonly event?: string; readonly data?: Received; readonly comment?: string }[] {
  return text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const members: Record<string, unknown> = {};
      for (const line of block.split('\n')) {
        const at = line.indexOf(': ');
        if (at === 0) members.comment = line.slice(2);
        else members[line.slice(0, at)] = line.startsWith('data: ') ? JSON.parse(line.slice(6)) : line.slice(at + 2);
      }
      return members;
    });
}

export interface ScriptedTag {
  address: string;
  value: unknown;
  quality: string;
  atMs: number;
}

export function tagSource(site: string, unit: string, tags: ScriptedTag[]): TagSource {
  return {
    site,
    unit,
    addresses: tags.map(({ address }) => address),
    refresh: () => undefined,
    valueJson: (index) => JSON.stringify(at(tags, index).value),
    qualityWord: (index) => at(tags, index).quality,
    timestampMs: (index) => at(tags, index).atMs,
  };
}

export function tagsNamed(count: number, value: (index: number) => unknown = (index) => index): ScriptedTag[] {
  return Array.from({ length: count }, (_, index) => ({ address: `m${index}.pv`, value: value(index), quality: 'Good', atMs: 1000 }));
}

export const everywhere: Places = { hasSite: (site) => site !== 'nowhere', hasUnit: (_site, unit) => unit !== 'no-unit' };

export class ScriptedSessions implements SessionWatch {
  state: SessionState = 'active';
  refreshed: ((caller: Caller) => Caller) | undefined;
  accepts: ((token: string) => Caller) | undefined;
  touched = 0;
  readonly #listeners: ((sessionId: string, reason: string) => void)[] = [];

  stateOf(): SessionState {
    return this.state;
  }

  onEnded(listener: (sessionId: string, reason: string) => void): void {
    this.#listeners.push(listener);
  }

  end(sessionId: string, reason: string): void {
    for (const listener of this.#listeners) listener(sessionId, reason);
  }

  touch(): void {
    this.touched += 1;
  }

  refresh(caller: Caller): Caller {
    return this.refreshed?.(caller) ?? caller;
  }

  authenticateToken(token: string): Caller {
    if (!this.accepts) throw new Error('no token expected');
    return this.accepts(token);
  }
}

export function person(
  options: { readonly sites?: readonly string[] | null; readonly actions?: readonly string[]; readonly expiresAtMs?: number | null; readonly sessionId?: string } = {},
): Caller {
  const actions = options.actions;
  return {
    kind: 'human',
    accountId: 'a1',
    username: 'op',
    displayName: 'Operator',
    groups: [],
    sites: options.sites === undefined ? null : options.sites,
    sessionId: options.sessionId ?? 's1',
    issuedAtMs: 0,
    authTimeMs: 0,
    expiresAtMs: options.expiresAtMs === undefined ? null : options.expiresAtMs,
    mustChangePassword: false,
    may: (action) => actions === undefined || actions.includes(action),
  };
}
