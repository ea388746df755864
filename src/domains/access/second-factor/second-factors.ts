/**
 * Second factors of the accounts of this box: a time-based code of an authenticator app, or a recovery code; whoever has a passkey has a row here too,
 * for his recovery codes. Secret and hashes are sealed with
 * the key of the box, each for its account, so that a copy of the database opens nothing.
 *
 * Invariant: a code opens one thing. Its step is taken in the turn in which it is judged, in memory, and stored with what it opened; a step
 * is taken for ever, whichever way the clock is set. One whose sealed text does not open fails closed.
 */
import * as v from 'valibot';
import { type Clock, timestamp } from '../../../platform/base/clock.js';
import type { WallMs } from '../../../platform/base/times.js';
import type { Sealing } from '../../../platform/base/sealing.js';
import { conflict, invalid, type Refusal } from '../../../platform/base/refusal.js';
import { Deadline } from '../../../platform/base/elapsed.js';
import type { Ref, Resource } from '../../../platform/store/resource.js';
import type { Put, Store } from '../../../platform/store/store.js';
import { hashOf } from '../sessions.js';
import { SecondFactor, type SecondFactorSpec, type SecondFactorStatus } from '../kind.js';
import { hashOfRecoveryCode, newRecoveryCodes } from './recovery-codes.js';
import { newSecret, readCode, STEP_MS, stepOf, stepsOfCode, uriOf } from './time-codes.js';

/** So long a secret that was shown waits for its first code. */
const ENROLMENT_MS = 10 * 60_000;
const ENROLMENTS_MAX = 1000;
const USED_STEPS_MAX = 64;
/** An hour: to tell whoever enrols that the clocks are apart, and not that he has mistyped. */
const FAR_STEPS = 120;
/** Codes of an enrolment for which that is looked up: it takes 10 ms of the thread that serves everybody. */
const FAR_LOOKS_MAX = 5;

type FactorPut = Put<SecondFactorSpec, SecondFactorStatus>;
type FactorResource = Resource<SecondFactorSpec, SecondFactorStatus>;

/** What is sealed. */
/** `secret` is null where passkeys are all there is beside the recovery codes. */
const Secrets = v.strictObject({ secret: v.nullable(v.string()), recovery: v.pipe(v.array(v.string()), v.readonly()) });
type Secrets = Readonly<v.InferOutput<typeof Secrets>>;
const SealedSecrets = v.pipe(v.string(), v.parseJson(), Secrets);

interface Enrolment {
  readonly account: string;
  readonly secret: string;
  readonly ends: Deadline;
  /** How often it was looked whether a code is of another time. */
  looks: number;
}

interface Used {
  /** Of another secret nothing is taken. */
  readonly of: string;
  readonly steps: Set<number>;
  floor: number;
}

export type Factor = 'code' | 'recovery-code';

export type Verdict =
  | { readonly is: 'right'; readonly by: Factor | 'none'; readonly puts: readonly FactorPut[]; readonly recoveryCodesLeft?: number }
  | { readonly is: 'asked' | 'wrong' | 'unreadable' };

export interface FactorView {
  /** Whether an authenticator app is part of it. */
  readonly app: boolean;
  readonly enrolledAt: string;
  readonly lastUsedAt: string | null;
  readonly recoveryCodesLeft: number;
}

export class SecondFactors {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #sealing: Sealing;
  readonly #issuer: string;
  /** By session. */
  readonly #enrolments = new Map<string, Enrolment>();
  /** By account; what was taken stays so, whatever the disk says. */
  readonly #used = new Map<string, Used>();
  /** Hashes of the recovery codes that were taken since the start. */
  readonly #spent = new Set<string>();

  /** @param issuer how an app calls the box. */
  constructor(store: Store, clock: Clock, sealing: Sealing, issuer: string) {
    this.#store = store;
    this.#clock = clock;
    this.#sealing = sealing;
    this.#issuer = issuer;
  }

  /** Also one whose row cannot be read: damage takes nothing away that protects an account. */
  has(account: string): boolean {
    return this.#get(account) !== undefined || this.#store.isQuarantined(refOf(account));
  }

  /** Whether an authenticator app is part of it; false where what is sealed does not open. */
  hasApp(account: string): boolean {
    const factor = this.#get(account);
    return factor !== undefined && typeof this.#open(factor)?.secret === 'string';
  }

  view(account: string): FactorView | undefined {
    const factor = this.#get(account);
    if (!factor) return undefined;
    const secrets = this.#open(factor);
    return { app: secrets?.secret !== null, enrolledAt: factor.spec.enrolledAt, lastUsedAt: factor.status.lastUsedAt, recoveryCodesLeft: secrets?.recovery.length ?? 0 };
  }

  /** Accounts whose second factor was sealed by other keys than those of this box. */
  unreadable(): string[] {
    return this.#store
      .list(SecondFactor, '')
      .filter((factor) => !this.#open(factor))
      .map(({ metadata }) => metadata.name);
  }

  // -------------------------------------------------------------- judging

  /** A right code is taken by it. @param code undefined: none was given. */
  judge(account: string, code: string | undefined): Verdict {
    const factor = this.#get(account);
    if (!factor) return this.has(account) ? { is: 'unreadable' } : { is: 'right', by: 'none', puts: [] };
    const secrets = this.#open(factor);
    if (!secrets) return { is: 'unreadable' };
    if (code === undefined || code.trim() === '') return { is: 'asked' };
    const digits = readCode(code);
    return digits === undefined ? this.#takeRecoveryCode(factor, secrets, code) : this.#takeStep(factor, secrets, digits);
  }

  #takeStep(factor: FactorResource, { secret, recovery }: Secrets, digits: string): Verdict {
    if (secret === null) return { is: 'wrong' };
    const used = this.#usedOf(factor, secret);
    const step = stepsOfCode(secret, digits, stepOf(this.#clock.wallMs())).find((near) => near > used.floor && !used.steps.has(near));
    if (step === undefined) return { is: 'wrong' };
    take(used, step);
    return { is: 'right', by: 'code', puts: [{ kind: SecondFactor, site: '', name: factor.metadata.name, status: this.#statusOf(used) }], recoveryCodesLeft: recovery.length };
  }

  #takeRecoveryCode(factor: FactorResource, { secret, recovery }: Secrets, code: string): Verdict {
    const hash = hashOfRecoveryCode(code);
    const used = this.#usedOf(factor, secret);
    if (!recovery.includes(hash) || this.#spent.has(hash)) return { is: 'wrong' };
    this.#spent.add(hash);
    const left = recovery.filter((each) => each !== hash && !this.#spent.has(each));
    return {
      is: 'right',
      by: 'recovery-code',
      puts: [this.#put(factor.metadata.name, factor.spec, { secret, recovery: left }, this.#statusOf(used))],
      recoveryCodesLeft: left.length,
    };
  }

  // -------------------------------------------------------------- enrolment

  /** A new secret, shown once; what is there already holds until the first code has come. */
  begin(account: string, username: string, sessionId: string): { readonly secret: string; readonly uri: string; readonly expiresInSeconds: number } {
    for (const [id, { ends }] of this.#enrolments) if (ends.hasPassed) this.#enrolments.delete(id);
    this.#enrolments.delete(sessionId);
    if (this.#enrolments.size >= ENROLMENTS_MAX) this.#enrolments.delete(this.#enrolments.keys().next().value as string);
    const secret = newSecret();
    this.#enrolments.set(sessionId, { account, secret, ends: new Deadline(this.#clock, ENROLMENT_MS), looks: 0 });
    return { secret, uri: uriOf(secret, username, this.#issuer), expiresInSeconds: ENROLMENT_MS / 1000 };
  }

  /** The first code of the secret that this session was shown. @throws Refusal 409 `no_enrolment`, 400 field `code`. */
  confirm(account: string, accountId: string, sessionId: string, code: string): { readonly put: FactorPut; readonly recoveryCodes: readonly string[] } {
    const enrolment = this.#enrolments.get(sessionId);
    if (!enrolment || enrolment.account !== account || enrolment.ends.hasPassed)
      throw conflict('no_enrolment', 'no secret waits for its first code here: begin with POST auth/second-factor, and confirm within 10 minutes');
    const nowStep = stepOf(this.#clock.wallMs());
    const digits = readCode(code);
    const [step] = digits === undefined ? [] : stepsOfCode(enrolment.secret, digits, nowStep);
    if (step === undefined) throw wrongFirstCode(this.#farStep(enrolment, digits, nowStep), nowStep, this.#clock.wallMs());
    this.#enrolments.delete(sessionId);
    const { codes, hashes } = newRecoveryCodes();
    const spec = { accountId, sealed: this.#seal(account, { secret: enrolment.secret, recovery: hashes }), enrolledAt: timestamp(this.#clock.wallMs()) };
    const used: Used = { of: hashOf(enrolment.secret), steps: new Set([step]), floor: -1 };
    this.#used.set(account, used);
    return { put: { kind: SecondFactor, site: '', name: account, spec, status: this.#statusOf(used) }, recoveryCodes: codes };
  }

  /** Recovery codes for who has a passkey and nothing else. @returns undefined where he has a second factor already. */
  first(account: string, accountId: string): { readonly put: FactorPut; readonly recoveryCodes: readonly string[] } | undefined {
    if (this.has(account)) return undefined;
    const { codes, hashes } = newRecoveryCodes();
    const spec = { accountId, sealed: this.#seal(account, { secret: null, recovery: hashes }), enrolledAt: timestamp(this.#clock.wallMs()) };
    this.#used.delete(account);
    return { put: { kind: SecondFactor, site: '', name: account, spec, status: SecondFactor.initialStatus(spec) }, recoveryCodes: codes };
  }

  /** The ones before are worth nothing from then on. */
  renewRecoveryCodes(account: string): { readonly put: FactorPut; readonly recoveryCodes: readonly string[] } {
    const factor = this.#get(account);
    const secrets = factor && this.#open(factor);
    if (!factor || !secrets) throw noFactor();
    const { codes, hashes } = newRecoveryCodes();
    return { put: this.#put(account, factor.spec, { secret: secrets.secret, recovery: hashes }, this.#statusOf(this.#usedOf(factor, secrets.secret))), recoveryCodes: codes };
  }

  /** What is to be removed with the account, or by a reset. */
  refsOf(account: string): readonly Ref[] {
    return this.has(account) ? [refOf(account)] : [];
  }

  // -------------------------------------------------------------- inside

  #farStep(enrolment: Enrolment, digits: string | undefined, nowStep: number): number | undefined {
    if (digits === undefined || enrolment.looks >= FAR_LOOKS_MAX) return undefined;
    enrolment.looks += 1;
    return stepsOfCode(enrolment.secret, digits, nowStep, FAR_STEPS)[0];
  }

  #get(account: string): FactorResource | undefined {
    return this.#store.get(SecondFactor, '', account);
  }

  #usedOf({ metadata: { name }, status }: FactorResource, secret: string | null): Used {
    const of = hashOf(secret ?? '');
    const known = this.#used.get(name);
    if (known?.of === of) return known;
    const used: Used = { of, steps: new Set(status.usedSteps), floor: status.floor };
    this.#used.set(name, used);
    return used;
  }

  #statusOf({ steps, floor }: Used): SecondFactorStatus {
    return { lastUsedAt: timestamp(this.#clock.wallMs()), usedSteps: [...steps].sort((a, b) => a - b), floor };
  }

  #put(account: string, { accountId, enrolledAt }: SecondFactorSpec, secrets: Secrets, status: SecondFactorStatus): FactorPut {
    return { kind: SecondFactor, site: '', name: account, spec: { accountId, sealed: this.#seal(account, secrets), enrolledAt }, status };
  }

  #seal(account: string, secrets: Secrets): string {
    return this.#sealing.seal(JSON.stringify(secrets), placeOf(account));
  }

  #open({ metadata, spec }: FactorResource): Secrets | undefined {
    const read = v.safeParse(SealedSecrets, this.#sealing.open(spec.sealed, placeOf(metadata.name)));
    return read.success ? read.output : undefined;
  }
}

/** Keeps as many steps as a clock that was set back could meet again; those before are taken for good. */
function take(used: Used, step: number): void {
  used.steps.add(step);
  while (used.steps.size > USED_STEPS_MAX) {
    const lowest = Math.min(...used.steps);
    used.steps.delete(lowest);
    used.floor = Math.max(used.floor, lowest);
  }
}

function refOf(account: string): Ref {
  return { kind: SecondFactor.kind, site: '', name: account };
}

function placeOf(account: string): string {
  return `second factor of ${account}`;
}

export function noFactor(): Refusal {
  return conflict('no_second_factor', 'this account has no second factor');
}

function wrongFirstCode(farStep: number | undefined, nowStep: number, nowMs: WallMs): Refusal {
  if (farStep === undefined) return invalid('invalid_code', 'code', 'code is not one that the app shows for this secret: type the six digits that it shows now');
  const apartMinutes = Math.round((Math.abs(farStep - nowStep) * STEP_MS) / 60_000);
  const way = farStep > nowStep ? 'behind' : 'ahead of';
  const message = `code is of another time: the clock of the box (${timestamp(nowMs)}) is about ${apartMinutes} min ${way} that of the app; set right the one that is wrong`;
  return invalid('invalid_code', 'code', message);
}
