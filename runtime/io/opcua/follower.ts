/**
 * Keeps the points of a module followed (decisions D-IO-02): a subscription from which no proof comes is made anew, then the
 * session, and when that does not help either the connection is given up, so that the whole client is made anew.
 */
import type { UserIdentityInfo } from 'node-opcua-client';
import type { Clock } from '../../vocabulary/clock.js';
import type { ArrivalListener } from '../driver.js';
import { faultText, OpcUaFault } from './status.js';
import { Subscription, type Monitored, type SubscriptionEvents, type SubscriptionSettings } from './subscription.js';
import type { Wire } from './wire.js';

const SILENT_PERIODS = 3; // decisions D-IO-02
const SILENT_MS_MIN = 5000;
/** A proof is missed by then, and the values are Bad. */
const BAD_MS_MAX = 2900;
/** Where proofs come more seldom, the device is asked in between. */
const ASKED_MS = 1500;
/** Where no proof comes by itself, it is asked for so often. */
const PROOF_MS = 1000;
/** Where the server has to be asked whether it runs, its subscription has spoken by then, or twice its period before. */
const SPOKEN_MS_MAX = BAD_MS_MAX - ASKED_MS;

export interface FollowerParts {
  readonly wire: Wire;
  readonly user: UserIdentityInfo;
  readonly clock: Clock;
  readonly settings: SubscriptionSettings;
  readonly items: readonly (Monitored | undefined)[];
  readonly events: Pick<SubscriptionEvents, 'samples' | 'refused' | 'missed'>;
  readonly listener: ArrivalListener;
  /** One small read. @returns why what it tells does not prove that the server runs; '' where it does. @throws OpcUaFault */
  ask(timeoutMs: number): Promise<string>;
  /** The connection is of no use. */
  giveUp(reason: string): void;
}

type Level = 'subscription' | 'session' | 'client';
const LEVELS: readonly Level[] = ['subscription', 'session', 'client'];

export class Follower {
  readonly #parts: FollowerParts;
  #subscription: Subscription | undefined;
  /** What is made anew when the present one brings nothing. */
  #level = 0;
  #provenMonoMs: number;
  #spokenMonoMs = Number.NEGATIVE_INFINITY;
  /** Since when there is the present subscription. */
  #builtMonoMs = 0;
  #isStopped = false;
  #isSilent = false;
  #isBuilding = false;
  #isAsking = false;
  #cancelBad: () => void = () => {};
  #cancelRebuild: () => void = () => {};
  #cancelAsk: () => void = () => {};

  constructor(parts: FollowerParts) {
    this.#parts = parts;
    this.#provenMonoMs = parts.clock.monoMs();
    this.#watch();
    this.#attend(this.#build(''));
  }

  get #periodMs(): number {
    return this.#subscription?.periodMs ?? this.#parts.settings.publishingIntervalMs;
  }

  #attend(work: Promise<void>): void {
    work.catch((fault: unknown) => this.#parts.giveUp(faultText(fault)));
  }

  // -------------------------------------------------------------- silence

  #watch(): void {
    this.#cancelBad();
    this.#cancelRebuild();
    if (this.#isStopped) return;
    const { clock, settings } = this.#parts;
    const isAsked = this.#isAsked;
    const badMs = Math.min(this.#periodMs + settings.timeoutMs, BAD_MS_MAX);
    if (!isAsked) this.#cancelBad = clock.after(badMs, () => this.#say(`no sample for ${this.#silenceText()}`));
    const rebuildMs = Math.max(SILENT_PERIODS * this.#periodMs, SILENT_MS_MIN);
    this.#cancelRebuild = clock.after(rebuildMs, () => this.#attend(this.#build(`no sample for ${this.#silenceText()}`)));
    if (isAsked) this.#askLater();
    else this.#cancelAsk();
  }

  /** Proofs come too seldom, or none comes by itself. */
  get #isAsked(): boolean {
    return this.#periodMs > ASKED_MS || this.#subscription?.hasWatch === false;
  }

  #silenceText(): string {
    return `${((this.#parts.clock.monoMs() - this.#provenMonoMs) / 1000).toFixed(1)} s`;
  }

  #askLater(): void {
    this.#cancelAsk();
    this.#cancelAsk = this.#parts.clock.after(this.#subscription?.hasWatch === false ? PROOF_MS : ASKED_MS, () => this.#askNow());
  }

  #askNow(): void {
    this.#cancelAsk();
    if (this.#isAsking) return;
    this.#isAsking = true;
    const asked = this.#subscription;
    this.#parts.ask(Math.min(this.#parts.settings.timeoutMs, BAD_MS_MAX - ASKED_MS)).then(
      (doubt) => {
        this.#isAsking = false;
        if (this.#isStopped || !this.#isAsked) return;
        this.#askLater();
        if (asked?.hasWatch === false && asked === this.#subscription) this.#judge(doubt);
      },
      (fault: unknown) => {
        this.#isAsking = false;
        if (this.#isStopped) return;
        this.#say(faultText(fault));
        this.#askLater();
      },
    );
  }

  /** Of a server whose clock proves nothing: it runs, and its subscription lives. */
  #judge(doubt: string): void {
    const spokenMsMax = this.#periodMs > ASKED_MS ? Math.max(SILENT_PERIODS * this.#periodMs, SILENT_MS_MIN) : Math.max(SPOKEN_MS_MAX, 2 * this.#periodMs);
    const spokenMs = this.#parts.clock.monoMs() - this.#spokenMonoMs;
    if (doubt !== '') this.#say(doubt);
    else if (spokenMs > spokenMsMax) this.#say(`no sign of the subscription for ${(spokenMs / 1000).toFixed(1)} s`);
    else this.#proven(true);
  }

  /** The first sign after a silence is not waited with. */
  #spoke(): void {
    if (this.#isStopped) return;
    const isFirst = this.#isSilent || this.#spokenMonoMs < this.#builtMonoMs;
    this.#spokenMonoMs = this.#parts.clock.monoMs();
    if (isFirst && this.#subscription?.hasWatch === false) this.#askNow();
  }

  #say(message: string): void {
    if (this.#isStopped) return;
    this.#isSilent = true;
    this.#parts.listener.silent(message);
  }

  /** `isWhole`: all items are asked for; before that the server is seen to live, and no more. */
  #proven(isWhole: boolean): void {
    if (this.#isStopped) return;
    this.#provenMonoMs = this.#parts.clock.monoMs();
    if (!isWhole) return this.#watch();
    this.#level = 0;
    const wasSilent = this.#isSilent;
    this.#isSilent = false;
    this.#watch();
    this.#parts.listener.proven();
    // what was marked as Bad meanwhile, and has not changed since, comes no more by itself
    if (wasSilent) this.#parts.events.missed();
  }

  // -------------------------------------------------------------- making anew

  /** `reason`: why it is made anew; '' for the first time. */
  async #build(reason: string): Promise<void> {
    if (this.#isStopped || this.#isBuilding) return;
    this.#isBuilding = true;
    try {
      const old = this.#subscription;
      this.#subscription = undefined;
      if (old) await old.end();
      for (let why = reason; !this.#isStopped; ) {
        const level = LEVELS[this.#level] ?? 'client';
        if (why !== '') {
          this.#say(`${why}; the ${level} is made anew`);
          this.#level += 1; // should that not help, the next one
        }
        if (level === 'client') return this.#parts.giveUp(why);
        try {
          await this.#make(level === 'session');
          return this.#watch();
        } catch (fault) {
          if (this.#parts.wire.isLost) return;
          why = faultText(fault);
          this.#level = Math.max(this.#level, 1);
        }
      }
    } finally {
      this.#isBuilding = false;
    }
  }

  async #make(withSession: boolean): Promise<void> {
    const { wire, user, items, settings, events } = this.#parts;
    if (withSession) await wire.signIn(user);
    // the library tells of a subscription before it has handed it out
    const created: { subscription?: Subscription } = {};
    let endedEarly: OpcUaFault | string | undefined;
    const isCurrent = (): boolean => !this.#isStopped && (created.subscription === undefined || created.subscription === this.#subscription);
    const subscription = await Subscription.create(wire, items, settings, {
      samples: (values) => isCurrent() && events.samples(values),
      refused: (position, message) => isCurrent() && events.refused(position, message),
      missed: () => isCurrent() && events.missed(),
      revised: (intervals) => isCurrent() && this.#parts.listener.revised(intervals),
      proven: () => {
        if (!isCurrent()) return;
        this.#spokenMonoMs = Number.NEGATIVE_INFINITY; // should its clock fail, the server is asked at once
        this.#proven(created.subscription !== undefined);
      },
      heard: (isKeepAlive) => isCurrent() && this.#parts.listener.heard(isKeepAlive),
      spoke: () => isCurrent() && this.#spoke(),
      ended: (fault) => {
        if (created.subscription === undefined) endedEarly = fault;
        else if (isCurrent()) this.#ended(fault);
      },
    });
    created.subscription = subscription;
    if (this.#isStopped) return void (await subscription.end());
    if (endedEarly !== undefined) throw typeof endedEarly === 'string' ? new OpcUaFault('refused', endedEarly) : endedEarly;
    this.#subscription = subscription;
    this.#builtMonoMs = this.#parts.clock.monoMs();
  }

  #ended(fault: OpcUaFault | string): void {
    if (this.#parts.wire.isLost) return;
    if (typeof fault !== 'string' && /^BadSession|^BadSecureChannel/.test(fault.opcStatus)) this.#level = Math.max(this.#level, 1);
    this.#attend(this.#build(typeof fault === 'string' ? fault : fault.message));
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelBad();
    this.#cancelRebuild();
    this.#cancelAsk();
    await this.#subscription?.end();
  }
}
