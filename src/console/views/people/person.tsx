/** One person: what is known of the account, and everything that an administrator does to it, each asked before it is sent. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { changeAccount, endSessionOf, lockOutOf, readAccount, type ShownAccount, sessionsOf, setPassword, unlock, userPath } from '../../data/access.js';
import { remove } from '../../data/api.js';
import { can, me } from '../../data/session.js';
import type { Account, LockOut, OpenSession } from '../../data/types.js';
import { addressOf, show } from '../../data/view.js';
import { FactList } from '../../common/fact-list.js';
import { ReadFault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { Field } from '../../common/field.js';
import { rolesText, sitesText } from '../../common/role-text.js';
import { t } from '../../common/strings.js';
import { fullMomentText } from '../../common/text.js';
import { Check } from '../../parts/check.js';
import { Confirm } from '../../parts/confirm.js';
import { ShownOnce } from '../../parts/shown-once.js';
import { GroupFields } from './group-fields.js';
import { PasswordField, proposedPassword } from './password-field.js';
import { stateText } from './state-text.js';
import { text } from './people-words.js';

/** All that is known of him; each change reads it again. */
interface Known extends ShownAccount {
  readonly sessions: readonly OpenSession[];
  readonly lockOut: LockOut | undefined;
}

interface StepProps {
  readonly known: Known;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** What can be done to an account, in this order. */
const STEPS = [
  { name: 'change', title: text.change, action: 'user:update', applies: () => true, dialog: Change },
  { name: 'reset', title: text.reset, action: 'user:set-password', applies: () => true, dialog: Reset },
  { name: 'unlock', title: text.unlock, action: 'lockout:delete', applies: ({ lockOut }: Known) => lockOut !== undefined, dialog: Unlock },
  { name: 'end-sessions', title: text.endSessions, action: 'session:delete', applies: ({ sessions }: Known) => sessions.length > 0, dialog: EndSessions },
  {
    name: 'remove-factor',
    title: text.removeFactor,
    action: 'user:reset-second-factor',
    applies: ({ account }: Known) => account.secondFactor && !isMyself(account),
    dialog: RemoveFactor,
  },
  { name: 'disable', title: text.disable, action: 'user:update', applies: ({ account }: Known) => account.enabled, dialog: Disable },
  { name: 'enable', title: text.enable, action: 'user:update', applies: ({ account }: Known) => !account.enabled, dialog: Enable },
  { name: 'remove', title: text.remove, action: 'user:delete', applies: () => true, dialog: Remove },
] as const;

function isMyself({ accountId }: Account): boolean {
  return accountId === me.value?.accountId;
}

export function Person({ username }: { readonly username: string }) {
  const [known, setKnown] = useState<Known | null>(null);
  const [isGone, setGone] = useState(false);
  const [fault, setFault] = useState('');
  const [step, setStep] = useState('');
  const load = async (): Promise<void> => {
    try {
      const found = await readAccount(username);
      setGone(found === null);
      if (!found) return setKnown(null);
      const [sessions, lockOut] = await Promise.all([can('session:list') ? sessionsOf(username) : [], can('lockout:list') ? lockOutOf(username) : undefined]);
      setKnown({ ...found, sessions, lockOut });
      setFault('');
    } catch (refused) {
      setFault(faultText(refused));
    }
  };
  useEffect(() => void load(), []);
  const open = STEPS.find(({ name }) => name === step);
  return (
    <section class="panel page" aria-labelledby="person-title" data-testid="person-view">
      <header class="page-head">
        <a class="button" href={addressOf('people')} data-testid="people-all">
          {text.back}
        </a>
        <h2 id="person-title">{known?.account.displayName ?? username}</h2>
      </header>
      <ReadFault text={fault} />
      {isGone && <p class="empty">{text.gone}</p>}
      {known && (
        <>
          {known.lockOut && (
            <p class="warning" role="status" data-testid="person-locked">
              {text.locked(fullMomentText(known.lockOut.lockedUntil))}
            </p>
          )}
          <Facts {...known} />
          <div class="page-actions">
            {STEPS.filter(({ action, applies }) => can(action) && applies(known)).map(({ name, title }) => (
              <button type="button" key={name} class="button" onClick={() => setStep(name)} data-testid={`person-${name}`}>
                {title}
              </button>
            ))}
          </div>
          {known.account.secondFactor && isMyself(known.account) && <p class="hint">{text.ownFactor}</p>}
          {open && <open.dialog known={known} onDone={() => void load()} onClose={() => setStep('')} />}
        </>
      )}
    </section>
  );
}

function Facts({ account, sessions }: Known) {
  const { username, email = '', groups, secondFactor, createdAt, lastLoginAt, passwordChangedAt } = account;
  return (
    <FactList
      rows
      facts={[
        [t.username, username],
        [text.email, email],
        [text.roles, rolesText(groups)],
        [text.sites, sitesText(groups)],
        [text.state, stateText(account)],
        [text.factor, secondFactor ? text.yes : text.no],
        [text.sessions, String(sessions.length)],
        [text.lastLogin, lastLoginAt === null ? text.never : fullMomentText(lastLoginAt)],
        [text.passwordChanged, fullMomentText(passwordChangedAt)],
        [text.created, fullMomentText(createdAt)],
      ]}
    />
  );
}

interface AskProps extends StepProps {
  readonly step: (typeof STEPS)[number]['name'];
  readonly says: (who: string) => string;
  readonly verb: string;
  readonly judge?: () => string;
  readonly onSend: () => Promise<void>;
  readonly children?: ComponentChildren;
}

/** Done, it is read again what is so now. */
function Ask({ known: { account }, step, says, verb, onSend, onDone, ...rest }: AskProps) {
  const send = async (): Promise<void> => {
    await onSend();
    onDone();
  };
  return <Confirm title={`${verb}: ${account.displayName}`} text={says(account.displayName)} verb={verb} testid={`person-${step}`} onSend={send} {...rest} />;
}

function Change(props: StepProps) {
  const { account } = props.known;
  const [displayName, setDisplayName] = useState(account.displayName);
  const [email, setEmail] = useState(account.email ?? '');
  const [groups, setGroups] = useState<readonly string[]>(account.groups);
  const [mustChangePassword, setMustChange] = useState(account.mustChangePassword);
  const asIs = { displayName: account.displayName, email: account.email ?? '', groups: [...account.groups].sort(), mustChangePassword: account.mustChangePassword };
  const wanted = { displayName: displayName.trim(), email: email.trim(), groups: [...groups].sort(), mustChangePassword };
  const isSame = JSON.stringify(wanted) === JSON.stringify(asIs);
  return (
    <Ask
      {...props}
      step="change"
      says={text.changeText}
      verb={text.save}
      judge={() => (isSame ? text.nothingChanged : wanted.displayName === '' ? t.fillIn : '')}
      onSend={() => changeAccount(props.known, wanted)}
    >
      <Field id="person-display-name" label={t.displayName} value={displayName} onInput={setDisplayName} />
      <Field id="person-email" label={text.email} value={email} onInput={setEmail} hint={t.reasonOptional} />
      <GroupFields groups={groups} onChange={setGroups} />
      <Check id="person-must-change" label={text.mustChangeAtFirst} isOn={mustChangePassword} onChange={setMustChange} />
    </Ask>
  );
}

function Reset(props: StepProps) {
  const { account } = props.known;
  const [password, choose] = useState(proposedPassword);
  const [mustChange, setMustChange] = useState(true);
  const [isSet, setSet] = useState(false);
  const send = async (): Promise<void> => {
    await setPassword(account.username, password, mustChange);
    props.onDone();
  };
  if (isSet) return <ShownOnce title={account.displayName} hint={text.told(account.displayName)} secret={password} testid="person-password-shown" onClose={props.onClose} />;
  return (
    <Confirm
      title={`${text.reset}: ${account.displayName}`}
      text={text.resetText(account.displayName)}
      verb={text.reset}
      testid="person-reset"
      onSend={send}
      onSent={() => setSet(true)}
      onClose={props.onClose}
    >
      <PasswordField label={t.newPassword} value={password} onInput={choose} />
      <Check id="person-must-change" label={text.mustChangeAtFirst} isOn={mustChange} onChange={setMustChange} />
    </Confirm>
  );
}

function Unlock(props: StepProps) {
  return <Ask {...props} step="unlock" says={text.unlockText} verb={text.unlock} onSend={() => unlock(props.known.account.username)} />;
}

function EndSessions(props: StepProps) {
  const { sessions } = props.known;
  const end = async (): Promise<void> => {
    for (const session of sessions) await endSessionOf(session);
  };
  return <Ask {...props} step="end-sessions" says={(who) => text.endSessionsText(who, sessions.length)} verb={text.endSessions} onSend={end} />;
}

function RemoveFactor(props: StepProps) {
  const path = `${userPath(props.known.account.username)}/second-factor`;
  return <Ask {...props} step="remove-factor" says={text.removeFactorText} verb={text.removeFactor} onSend={() => remove(path)} />;
}

function Disable(props: StepProps) {
  return <Ask {...props} step="disable" says={text.disableText} verb={text.disable} onSend={() => changeAccount(props.known, { enabled: false })} />;
}

function Enable(props: StepProps) {
  return <Ask {...props} step="enable" says={text.enableText} verb={text.enable} onSend={() => changeAccount(props.known, { enabled: true })} />;
}

function Remove(props: StepProps) {
  const { username } = props.known.account;
  const [typed, setTyped] = useState('');
  const label = text.typeName(username);
  const send = async (): Promise<void> => {
    await remove(userPath(username));
    show('people');
  };
  return (
    <Ask {...props} step="remove" says={text.removeText} verb={text.remove} judge={() => (typed.trim() === username ? '' : label)} onSend={send}>
      <Field id="person-remove-name" label={label} value={typed} onInput={setTyped} />
    </Ask>
  );
}
