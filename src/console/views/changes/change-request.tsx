/** One change request: what it would change, value by value, what uses it, who has signed; approved or rejected by another person, withdrawn by who asked. */
import { useEffect, useState } from 'preact/hooks';
import { get, post } from '../../data/api.js';
import { can, config } from '../../data/session.js';
import type { ChangeDetail } from '../../data/types.js';
import { addressOf } from '../../data/view.js';
import { FactList } from '../../common/fact-list.js';
import { ReadFault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { ReasonField } from '../../common/reason-field.js';
import { t, word } from '../../common/strings.js';
import { fullMomentText } from '../../common/text.js';
import { Confirm } from '../../parts/confirm.js';
import { SignDialog } from '../../plant/sign-dialog.js';
import { text } from './changes-words.js';

type Step = 'approve' | 'reject' | 'withdraw';
const STEPS: readonly Step[] = ['approve', 'reject', 'withdraw'];

/** @param place namespace and name. */
export function ChangeRequestPage({ place }: { readonly place: string }) {
  const path = `/api/v1/changerequests/${place.split('/').map(encodeURIComponent).join('/')}`;
  const [found, setFound] = useState<ChangeDetail | null>(null);
  const [fault, setFault] = useState('');
  const [step, setStep] = useState<Step | null>(null);
  const load = (): void =>
    void get<ChangeDetail>(path).then(
      (read) => {
        setFound(read);
        setFault('');
      },
      (refused: unknown) => setFault(faultText(refused)),
    );
  useEffect(load, []);
  const send = async (reason: string): Promise<void> => {
    await post(`${path}/${step}`, { reason });
    load();
  };
  return (
    <section class="panel page" aria-labelledby="change-title" data-testid="change-view">
      <header class="page-head">
        <a class="button" href={addressOf('changes')}>
          {text.back}
        </a>
        <h2 id="change-title">{place.split('/').at(-1)}</h2>
        {found?.status.phase === 'Pending' && (
          <div class="page-filters">
            {STEPS.filter((each) => can(`changerequest:${each}`)).map((each) => (
              <button type="button" key={each} class={each === 'approve' ? 'button primary' : 'button'} onClick={() => setStep(each)} data-testid={`change-${each}`}>
                {text[each]}
              </button>
            ))}
          </div>
        )}
      </header>
      <ReadFault text={fault} />
      {found && (
        <div class="stack scroll" tabIndex={0}>
          <Asked {...found} />
          <Changes {...found} />
          <Reach {...found.blastRadius} />
          <Signed {...found} />
        </div>
      )}
      {found && step && step !== 'withdraw' && (
        <SignDialog
          title={`${text[step]}: ${found.name}`}
          meanings={[`change-${step}`]}
          lengthMin={1}
          suggestions={text.reasons[step]}
          onSign={(_, reason) => send(reason)}
          onClose={() => setStep(null)}
        >
          <p data-testid="change-does">{doesText(step, found)}</p>
        </SignDialog>
      )}
      {found && step === 'withdraw' && <Withdraw name={found.name} onSend={send} onClose={() => setStep(null)} />}
    </section>
  );
}

function doesText(step: Step, { spec, blastRadius }: ChangeDetail): string {
  if (step === 'reject') return text.rejectText;
  if (spec.operation !== 'Delete' && spec.manifest === undefined) return text.approveOnly;
  return [text.approveText, ...(blastRadius.batches.length > 0 ? [text.approveRuns] : [])].join(' ');
}

function Withdraw({ name, onSend, onClose }: { readonly name: string; readonly onSend: (reason: string) => Promise<void>; readonly onClose: () => void }) {
  const [reason, setReason] = useState('');
  return (
    <Confirm title={`${text.withdraw}: ${name}`} text={text.withdrawText} verb={text.withdraw} testid="change-withdraw" onSend={() => onSend(reason.trim())} onClose={onClose}>
      <ReasonField value={reason} onInput={setReason} lengthMin={0} lengthMax={config.value?.reasonMaxLength ?? 1024} suggestions={text.reasons.withdraw} />
    </Confirm>
  );
}

function Asked({ spec: { target, operation, reason, description, risk }, status, targetChanged }: ChangeDetail) {
  const { phase, author, createdAt, expiresAt, decidedBy, decidedAt, decisionReason, error } = status;
  const isOpen = phase === 'Pending';
  return (
    <>
      {targetChanged && (isOpen || phase === 'Applied') && (
        <p class={isOpen ? 'warning' : 'hint'} data-testid="change-moved">
          {isOpen ? text.moved : text.movedSince}
        </p>
      )}
      <FactList
        rows
        facts={[
          [text.what, `${text.operations[operation]}: ${word(target.kind)} ${target.name}`],
          [t.reason, reason],
          ['', description],
          [text.risk, text.risks[risk]],
          [text.author, `${author}, ${fullMomentText(createdAt)}`],
          [text.phase, text.phases[phase]],
          [text.expires, isOpen ? fullMomentText(expiresAt) : ''],
          [text.decided, decidedBy === '' ? '' : [`${decidedBy}, ${fullMomentText(decidedAt)}`, decisionReason].filter((part) => part !== '').join(': ')],
          [text.error, error],
        ]}
      />
    </>
  );
}

/** A value as it is written: what is not there is a dash. */
function valueText(value: unknown): string {
  if (value === null) return '–';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function Changes({ changes, changesTotal, status: { phase } }: ChangeDetail) {
  const isDone = phase === 'Applied';
  const title = isDone ? text.changed : text.changes;
  if (changes.length === 0) return phase === 'Pending' ? <p data-testid="change-differences">{text.nothing}</p> : null;
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <table class="table" data-testid="change-differences">
        <thead>
          <tr>
            <th scope="col">{text.place}</th>
            <th scope="col">{isDone ? text.wasFrom : text.from}</th>
            <th scope="col">{isDone ? text.wasTo : text.to}</th>
          </tr>
        </thead>
        <tbody>
          {changes.map(({ path, from, to }) => (
            <tr key={path}>
              <td class="long mono">{path}</td>
              <td class="long">{valueText(from)}</td>
              <td class="long">{valueText(to)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {changes.length < changesTotal && <p class="hint">{text.shownOf(changes.length, changesTotal)}</p>}
    </section>
  );
}

function Reach({ uses, truncated, batches }: ChangeDetail['blastRadius']) {
  return (
    <section aria-label={text.uses}>
      <h3>{text.uses}</h3>
      {batches.length > 0 && <p class="warning">{text.running(batches.map(({ name, phase }) => `${name} (${word(phase)})`).join(', '))}</p>}
      <p>{uses.length === 0 ? text.noUses : uses.map(({ kind, name }) => `${word(kind)} ${name}`).join(', ')}</p>
      {truncated && <p class="hint">{text.more}</p>}
    </section>
  );
}

function Signed({ signatures }: ChangeDetail) {
  if (signatures.length === 0) return null;
  return (
    <section aria-label={text.signatures}>
      <h3>{text.signatures}</h3>
      <ul data-testid="change-signatures">
        {signatures.map(({ id, meaning, reason, signedBy, signedAt, state }) => (
          <li key={id}>
            {signedBy.displayName}: {t.meanings[meaning] ?? meaning}, <span class="number">{fullMomentText(signedAt)}</span>: {reason}
            {state !== 'Valid' && <strong> ({t.signatureStates[state] ?? state})</strong>}
          </li>
        ))}
      </ul>
    </section>
  );
}
