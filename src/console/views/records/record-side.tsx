/** Who answers for a record: its state, signatures, seal and comments, and what a person may add before it is sealed. */
import { useEffect, useState } from 'preact/hooks';
import { Once } from '../../data/once.js';
import { comment, finalize, readIntegrity, review } from '../../data/records.js';
import { can } from '../../data/session.js';
import { readMeanings, signResource } from '../../data/signatures.js';
import type { BatchRecord, ConsolidatedRecord } from '../../data/types.js';
import { ReadFault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { Field } from '../../common/field.js';
import { meaningText, t, word, words } from '../../common/strings.js';
import { fullMomentText } from '../../common/text.js';
import { Confirm } from '../../parts/confirm.js';
import { SignDialog } from '../../plant/sign-dialog.js';
import { phaseText } from './record-words.js';
import { VerifyDialog } from './verify-dialog.js';

const text = words({
  en: {
    title: 'Review',
    reviewed: (outcome: string, by: string) => `${outcome} by ${by}`,
    notReviewed: 'Nobody has reviewed it yet.',
    signatures: 'Signatures',
    noSignatures: 'None over the record yet.',
    verify: 'Verify',
    proof: 'Proof',
    sealedBy: (by: string) => `Sealed by ${by}`,
    notSealed: 'Not sealed yet; the seal comes with Finalize.',
    unchanged: 'It is what was recorded: it agrees with the audit trail.',
    unchangedSeal: 'It is what was signed: it agrees with its seal and the audit trail.',
    changed: 'Changed past the gateway:',
    comparing: 'Comparing with the audit trail …',
    holds: (names: string) => `Kept by legal hold ${names}.`,
    comments: 'Comments',
    noComments: 'None.',
    comment: 'Comment …',
    review: 'Review …',
    finalize: 'Finalize …',
    closed: 'It is sealed: nothing can be added any more.',
    commentText: 'The comment stands in the record and in the audit trail with your name. It cannot be taken back.',
    commentOn: 'What it is about (optional)',
    yourComment: 'Comment',
    send: 'Add the comment',
    reviewSays: 'The record is marked as reviewed with this outcome and your name, and stands so in the audit trail. It can be reviewed again until it is sealed.',
    reviewWho: (name: string) => `You review as ${name}.`,
    outcome: 'Outcome',
    reviewSend: 'Review',
    reviewDone: (name: string, outcome: string) => `Reviewed by ${name}: ${outcome}.`,
    reviewReasons: ['Complete and as planned', 'Deviations are explained'],
    finalizeSays: 'You sign the record as it is, and it is sealed. Nothing of it can be changed afterwards: no comment, no review.',
    finalizeSend: 'Sign and seal',
    finalizeReasons: ['Reviewed and complete', 'Released by QA'],
    stillRejected: (by: string, why: string) => `${by} rejected it${why === '' ? '' : `: ${why}`}.`,
  },
  de: {
    title: 'Prüfung',
    reviewed: (outcome: string, by: string) => `${outcome} von ${by}`,
    notReviewed: 'Noch niemand hat es geprüft.',
    signatures: 'Unterschriften',
    noSignatures: 'Noch keine über das Protokoll.',
    verify: 'Prüfen',
    proof: 'Beweis',
    sealedBy: (by: string) => `Versiegelt von ${by}`,
    notSealed: 'Noch nicht versiegelt; das Siegel kommt mit dem Abschluss.',
    unchanged: 'Es ist, was aufgezeichnet wurde: es stimmt mit dem Audit-Protokoll überein.',
    unchangedSeal: 'Es ist, was unterschrieben wurde: es stimmt mit Siegel und Audit-Protokoll überein.',
    changed: 'Am Gateway vorbei geändert:',
    comparing: 'Wird mit dem Audit-Protokoll verglichen …',
    holds: (names: string) => `Aufbewahrt durch Sperre ${names}.`,
    comments: 'Anmerkungen',
    noComments: 'Keine.',
    comment: 'Anmerken …',
    review: 'Prüfen …',
    finalize: 'Abschließen …',
    closed: 'Es ist versiegelt: nichts kann mehr hinzugefügt werden.',
    commentText: 'Die Anmerkung steht mit Ihrem Namen im Protokoll und im Audit-Protokoll. Sie kann nicht zurückgenommen werden.',
    commentOn: 'Worauf sie sich bezieht (freigestellt)',
    yourComment: 'Anmerkung',
    send: 'Anmerkung hinzufügen',
    reviewSays: 'Das Protokoll gilt mit diesem Ergebnis und Ihrem Namen als geprüft, so steht es auch im Audit-Protokoll. Bis zum Abschluss kann es noch einmal geprüft werden.',
    reviewWho: (name: string) => `Sie prüfen als ${name}.`,
    outcome: 'Ergebnis',
    reviewSend: 'Als geprüft vermerken',
    reviewDone: (name: string, outcome: string) => `Geprüft von ${name}: ${outcome}.`,
    reviewReasons: ['Vollständig und wie geplant', 'Abweichungen sind erklärt'],
    finalizeSays: 'Sie unterschreiben das Protokoll, wie es ist, und es wird versiegelt. Danach kann nichts daran geändert werden: keine Anmerkung, keine Prüfung.',
    finalizeSend: 'Unterschreiben und versiegeln',
    finalizeReasons: ['Geprüft und vollständig', 'Von der QS freigegeben'],
    stillRejected: (by: string, why: string) => `${by} hat es abgelehnt${why === '' ? '' : `: ${why}`}.`,
  },
});

interface SideProps {
  readonly record: BatchRecord;
  /** It is to be read again. */
  readonly onChanged: () => void;
}

export function RecordSide({ record, onChanged }: SideProps) {
  const { phase, review: given, comments, legalHolds } = record;
  return (
    <aside class="panel record-side" aria-labelledby="review-title">
      <h3 id="review-title">{text.title}</h3>
      <p data-testid="record-phase" data-phase={phase}>
        <strong>{phaseText(phase)}</strong>
        <br />
        {given ? <Said what={text.reviewed(word(given.outcome), given.by)} at={given.at} said={given.comment} /> : <span class="hint">{text.notReviewed}</span>}
      </p>
      <Signatures record={record} />
      <Proof record={record} />
      {legalHolds.length > 0 && (
        <p class="note" data-testid="record-holds">
          {text.holds(legalHolds.join(', '))}
        </p>
      )}
      <h3>{text.comments}</h3>
      {comments.length === 0 && <p class="hint">{text.noComments}</p>}
      <ul class="record-said" data-testid="record-comments">
        {comments.map(({ id, by, at, text: said, reference }) => (
          <li key={id}>
            <Said what={reference === '' ? by : `${by} (${reference})`} at={at} said={said} />
          </li>
        ))}
      </ul>
      <Deeds record={record} onChanged={onChanged} />
    </aside>
  );
}

function Said({ what, at, said }: { readonly what: string; readonly at: string; readonly said: string }) {
  return (
    <>
      {what} <time class="number hint">{fullMomentText(at)}</time>
      {said !== '' && <q>{said}</q>}
    </>
  );
}

/** Each with what it is worth by now, withdrawn ones too. */
function Signatures({ record: { signatures } }: { readonly record: BatchRecord }) {
  const [verifying, setVerifying] = useState('');
  return (
    <>
      <h3>{text.signatures}</h3>
      {signatures.length === 0 && <p class="hint">{text.noSignatures}</p>}
      <ul class="record-said" data-testid="record-signatures">
        {signatures.map(({ id, meaning, state, why, reason, signedBy, signedAt }) => (
          <li key={id} class="record-signature" data-meaning={meaning} data-state={state}>
            <span>
              <strong>{meaningText(meaning)}</strong> <Said what={signedBy.displayName} at={signedAt} said={reason} />
              {state !== 'Valid' && (
                <span class={state === 'Broken' ? 'fault' : 'note'}>
                  {t.signatureStates[state] ?? state}: {why}
                </span>
              )}
            </span>
            {can('signature:verify') && (
              <button type="button" class="button" aria-label={`${text.verify}: ${meaningText(meaning)}, ${signedBy.displayName}`} onClick={() => setVerifying(id)}>
                {text.verify}
              </button>
            )}
          </li>
        ))}
      </ul>
      {verifying !== '' && <VerifyDialog key={verifying} signature={verifying} onClose={() => setVerifying('')} />}
    </>
  );
}

/** Whether it still is what was recorded, and what was sealed. */
function Proof({ record }: { readonly record: BatchRecord }) {
  const { name, phase, digest, seal, finalized } = record;
  const [compared, setCompared] = useState<Pick<ConsolidatedRecord['integrity'], 'ok' | 'problems'>>();
  const [fault, setFault] = useState('');
  useEffect(() => {
    let current = true; // another record may have been opened before the answer
    if (!seal && can('batch:record'))
      readIntegrity(name).then(
        (found) => current && setCompared(found),
        (refused: unknown) => current && setFault(faultText(refused)),
      );
    return () => {
      current = false;
    };
  }, [record]);
  const verdict = seal ?? compared;
  return (
    <>
      <h3>{text.proof}</h3>
      <p data-testid="record-seal">{finalized ? <Said what={text.sealedBy(finalized.by)} at={finalized.at} said={finalized.reason} /> : text.notSealed}</p>
      <ReadFault text={fault} />
      {!verdict && fault === '' && can('batch:record') && <p role="status">{text.comparing}</p>}
      {verdict && (
        <div class={verdict.ok ? 'note' : 'fault'} role="status" data-testid="record-proof" data-ok={String(verdict.ok)}>
          {verdict.ok ? (phase === 'Finalized' ? text.unchangedSeal : text.unchanged) : text.changed}
          {!verdict.ok && (
            <ul>
              {verdict.problems.map((problem) => (
                <li key={problem}>{problem}</li>
              ))}
            </ul>
          )}
          <span class="hint mono record-digest">SHA-256 {digest}</span>
        </div>
      )}
    </>
  );
}

type Deed = '' | 'comment' | 'review' | 'finalize' | 'sign';

function Deeds({ record, onChanged }: SideProps) {
  const [deed, setDeed] = useState<Deed>('');
  const [offered, setOffered] = useState<{ readonly meanings: readonly string[]; readonly digest: string | undefined }>({ meanings: [], digest: undefined });
  const { name, phase, spec } = record;
  useEffect(() => {
    if (!can('signature:create')) return;
    readMeanings('BatchRecord', name).then(
      ({ items, digest }) => setOffered({ meanings: items.filter(({ applicable }) => applicable !== false).map(({ meaning }) => meaning), digest }),
      () => undefined, // asked again when the record is read again
    );
  }, [record]);
  const isOpen = phase !== 'Finalized';
  const close = (): void => setDeed('');
  const changed = (): void => {
    close();
    onChanged();
  };
  const title = spec.batch.batchID;
  return (
    <div class="record-deeds">
      {isOpen ? null : <p class="hint">{text.closed}</p>}
      {isOpen && can('batchrecord:comment') && <DeedButton name="comment" label={text.comment} onAsk={setDeed} />}
      {offered.meanings.length > 0 && <DeedButton name="sign" label={t.signVerb} onAsk={setDeed} />}
      {isOpen && can('batchrecord:review') && <DeedButton name="review" label={text.review} onAsk={setDeed} />}
      {isOpen && can('batchrecord:finalize') && <DeedButton name="finalize" label={text.finalize} onAsk={setDeed} />}
      {deed === 'comment' && <CommentDialog title={title} name={name} onDone={changed} onClose={close} />}
      {deed === 'sign' && (
        <SignDialog
          title={title}
          meanings={offered.meanings}
          lengthMin={1}
          onSign={(meaning, reason) => signResource('BatchRecord', name, meaning, reason, offered.digest)}
          onClose={changed}
        />
      )}
      {deed === 'review' && (
        <SignDialog
          title={title}
          words={{ head: text.title, who: text.reviewWho, meaning: text.outcome, send: text.reviewSend, done: text.reviewDone }}
          meanings={['Accepted', 'Rejected']}
          lengthMin={0}
          suggestions={text.reviewReasons}
          onSign={async (outcome, reason) => void (await review(name, outcome, reason))}
          onClose={changed}
        >
          <p>{text.reviewSays}</p>
        </SignDialog>
      )}
      {deed === 'finalize' && (
        <SignDialog
          title={title}
          words={{ send: text.finalizeSend }}
          meanings={['record-finalize']}
          lengthMin={1}
          suggestions={text.finalizeReasons}
          onSign={async (_meaning, reason) => void (await finalize(name, reason))}
          onClose={changed}
        >
          <p>{text.finalizeSays}</p>
          <Against record={record} />
        </SignDialog>
      )}
    </div>
  );
}

function DeedButton({ name, label, onAsk }: { readonly name: Exclude<Deed, ''>; readonly label: string; readonly onAsk: (deed: Deed) => void }) {
  return (
    <button type="button" class="button" onClick={() => onAsk(name)} data-testid={`record-${name}`}>
      {label}
    </button>
  );
}

/** What whoever seals it should know before. */
function Against({ record: { review: given, conditions } }: { readonly record: BatchRecord }) {
  const settling = conditions.find(({ type, status }) => type === 'PhaseHistorySettled' && status !== 'True');
  const said = [
    ...(given ? [] : [text.notReviewed]),
    ...(given?.outcome === 'Rejected' ? [text.stillRejected(given.by, given.comment)] : []),
    ...(settling ? [settling.message] : []),
  ];
  if (said.length === 0) return null;
  return (
    <p class="warning" data-testid="finalize-against">
      {said.join(' ')}
    </p>
  );
}

const COMMENT_LENGTH_MAX = 4000; // decisions Q-RECIPE-28

interface CommentDialogProps {
  readonly title: string;
  readonly name: string;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

function CommentDialog({ title, name, onDone, onClose }: CommentDialogProps) {
  const [said, setSaid] = useState('');
  const [about, setAbout] = useState('');
  const [once] = useState(() => new Once());
  return (
    <Confirm
      title={`${text.yourComment}: ${title}`}
      text={text.commentText}
      verb={text.send}
      testid="comment"
      wide
      judge={() => (said.trim() === '' ? t.fillIn : '')}
      onSend={() => comment(name, said.trim(), about.trim(), once)}
      onSent={onDone}
      onClose={onClose}
    >
      <div class="field">
        <label for="comment-text">{text.yourComment}</label>
        <textarea id="comment-text" rows={4} maxLength={COMMENT_LENGTH_MAX} value={said} onInput={(event) => setSaid(event.currentTarget.value)} data-testid="comment-text" />
      </div>
      <Field id="comment-about" label={text.commentOn} value={about} onInput={setAbout} />
    </Confirm>
  );
}
