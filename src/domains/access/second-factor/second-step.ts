/**
 * What comes after a right password: whether an account has a second factor, and whether what was shown is one. The one place that knows what counts
 * as a second factor: a code of an app, a recovery code, a passkey.
 */
import type { RequestContext } from '../../../platform/http/route.js';
import type { Ref } from '../../../platform/store/resource.js';
import type { Put, Store } from '../../../platform/store/store.js';
import type { AccountResource } from '../kind.js';
import type { Owner, Passkeys, Shown } from '../passkeys/passkeys.js';
import type { Proof } from '../proof.js';
import type { SecondFactors, Verdict } from './second-factors.js';
import { factorAsked, type RightVerdict, unreadableFactor } from './verdicts.js';

export interface SecondStepParts {
  readonly store: Store;
  readonly settings: { readonly authMode: string; readonly secondFactorRequiredFor: readonly string[]; readonly groupPrefix: string };
  readonly secondFactors: SecondFactors;
  readonly passkeys: Passkeys;
}

/** What somebody has shown beside his password, looked at as far as that takes time. */
export interface Seen {
  readonly code: string | undefined;
  readonly passkey: Shown | undefined;
}

/** Counts what was wrong, records and refuses it. */
type Fail = (reason: string, details: Readonly<Record<string, unknown>>) => Promise<never>;

export class SecondStep {
  readonly #parts: SecondStepParts;

  constructor(parts: SecondStepParts) {
    this.#parts = parts;
  }

  isRequired(groups: readonly string[]): boolean {
    const { authMode, secondFactorRequiredFor, groupPrefix } = this.#parts.settings;
    return authMode === 'local' && secondFactorRequiredFor.some((group) => groups.includes(group.replaceAll('{prefix}', groupPrefix)));
  }

  mustEnrol(account: string, groups: readonly string[]): boolean {
    return this.isRequired(groups) && !this.#parts.secondFactors.has(account);
  }

  /** When the password was right: what is shown beside a wrong one is neither looked at nor taken. @param purpose what it opens. */
  async look(account: AccountResource, { code, passkey }: Proof, purpose: string): Promise<Seen> {
    return { code, passkey: passkey && (await this.#parts.passkeys.prove(ownerOf(account), purpose, passkey)) };
  }

  /**
   * In the turn of the effect: a wrong one is told as a wrong password is, and none as its absence, with what a passkey needs to answer.
   * @throws Refusal 401.
   */
  async require(
    context: RequestContext<unknown, unknown>,
    account: AccountResource,
    seen: Seen,
    { method, purpose, fail }: { method: string; purpose: string; fail: Fail },
  ): Promise<RightVerdict> {
    const { store, passkeys, secondFactors } = this.#parts;
    const owner = ownerOf(account);
    const hasRow = secondFactors.has(owner.account);
    const hasPasskey = passkeys.of(owner).length > 0;
    if ((hasRow || hasPasskey) && seen.passkey) {
      const verdict = passkeys.judge(owner, seen.passkey);
      if (verdict.is === 'right') return verdict;
      const { why, details } = verdict;
      return fail(why === 'counter' ? 'PasskeyCounterWentBack' : 'InvalidPasskey', { secondFactor: 'passkey', why, ...details });
    }
    // a row that went missing takes nothing away that protects an account
    const verdict: Verdict = hasPasskey && !hasRow ? { is: 'unreadable' } : secondFactors.judge(owner.account, seen.code);
    if (verdict.is === 'right') return verdict;
    if (verdict.is === 'wrong') return fail('InvalidCode', {});
    // whose codes open with other keys only may have a passkey, which is sealed by none
    const passkey = seen.code === undefined ? passkeys.ask(owner, purpose) : undefined;
    const isAsked = verdict.is === 'asked' || passkey !== undefined;
    const target = { kind: 'Account', name: account.spec.username, site: '' };
    const reason = isAsked ? 'SecondFactorRequired' : 'SecondFactorUnreadable';
    await store.writeOrKeep({ audits: [context.audit({ action: 'Login', category: 'auth', target, result: 'Rejected', reason, details: { method } })] }, { as: 'refusal' });
    if (!isAsked) throw unreadableFactor();
    const strandedNames = [...new Set(passkeys.views(owner).flatMap(({ usable, rpID }) => (usable ? [] : [rpID])))];
    throw factorAsked({ app: secondFactors.hasApp(owner.account), passkey, strandedNames });
  }

  /** All that is there beside the password: what goes with the account, or with a reset. */
  refsOf(account: string): readonly Ref[] {
    return [...this.#parts.secondFactors.refsOf(account), ...this.#parts.passkeys.refsOf(account)];
  }

  /** In sentences, for who looks after the box. */
  get notes(): readonly string[] {
    const { secondFactors, passkeys } = this.#parts;
    const unreadable = secondFactors.unreadable().length;
    const stranded = [...passkeys.stranded()].map(
      ([name, count]) => `${count} of the passkeys open nothing, they were made for the host name ${name}: set gateway.publicName to it again, or their owners make new ones`,
    );
    return [
      ...(unreadable === 0 ? [] : [`${unreadable} of the second factors open nothing, they were sealed by other keys than those of this box: an administrator resets them`]),
      ...stranded,
    ];
  }
}

export function ownerOf({ metadata, spec }: AccountResource): Owner {
  return { account: metadata.name, accountId: spec.accountId };
}

/** What is stored with a change, without the factors that go or are written by the change itself. */
export function besides(puts: readonly Put[] = [], refs: readonly Ref[]): Put[] {
  return puts.filter(({ kind, name }) => !refs.some((ref) => ref.kind === kind.kind && ref.name === name));
}
