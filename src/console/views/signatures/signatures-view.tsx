/** Electronic signatures (21 CFR 11; contract 1, Authentication 8): who signed what and what it is worth by now; one of them verified, check by check, and taken back. */
import { useEffect, useState } from 'preact/hooks';
import { get, post } from '../../data/api.js';
import { logPage } from '../../data/listed.js';
import { site } from '../../data/plant.js';
import { can } from '../../data/session.js';
import type { ListedSignature, SignatureVerification } from '../../data/types.js';
import { addressOf, narrow, view } from '../../data/view.js';
import { FactList } from '../../common/fact-list.js';
import { ReadFault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { t, word, words } from '../../common/strings.js';
import { fullMomentText, instantOf } from '../../common/text.js';
import { useLog } from '../../common/use-log.js';
import { SignDialog } from '../../plant/sign-dialog.js';
import { type Column, Table } from '../../parts/table.js';
import type { ViewDefinition } from '../../frame/view-definition.js';
import { administration } from '../administration.js';

const text = words({
  en: {
    title: 'Signatures',
    every: 'Every meaning',
    signed: 'Signed',
    state: 'State',
    valid: 'valid',
    none: 'No signature fits this choice.',
    back: 'All signatures',
    genuine: 'Genuine: it is what was signed.',
    notGenuine: 'NOT genuine:',
    checked: 'What was verified',
    check: 'Check',
    finding: 'Finding',
    good: 'good',
    bad: 'NOT good',
    nothing: 'does not apply',
    checks: {
      digest: 'What it says',
      value: 'Seal',
      key: 'Key',
      row: 'Stored row',
      chain: 'Audit trail',
      content: 'What was signed',
      standing: 'Whether it stands',
    },
    withdraw: 'Withdraw',
    withdrawText:
      'Takes this signature back. It stays on record and is shown as withdrawn, with your name and reason, wherever it is shown. Only who gave it, or an administrator, takes it back.',
    reasons: ['Signed by mistake', 'Wrong meaning'],
  },
  de: {
    title: 'Signaturen',
    every: 'Jede Bedeutung',
    signed: 'Unterschrieben',
    state: 'Stand',
    valid: 'gültig',
    none: 'Keine Signatur passt zu dieser Auswahl.',
    back: 'Alle Signaturen',
    genuine: 'Echt: sie ist, was unterschrieben wurde.',
    notGenuine: 'NICHT echt:',
    checked: 'Was geprüft wurde',
    check: 'Prüfung',
    finding: 'Befund',
    good: 'gut',
    bad: 'NICHT gut',
    nothing: 'trifft nicht zu',
    checks: {
      digest: 'Was sie sagt',
      value: 'Siegel',
      key: 'Schlüssel',
      row: 'Gespeicherte Zeile',
      chain: 'Protokoll',
      content: 'Was unterschrieben wurde',
      standing: 'Ob sie gilt',
    },
    withdraw: 'Zurückziehen',
    withdrawText:
      'Nimmt diese Signatur zurück. Sie bleibt erhalten und wird überall als zurückgezogen gezeigt, mit Ihrem Namen und Grund. Nur wer sie gegeben hat oder ein Administrator nimmt sie zurück.',
    reasons: ['Versehentlich unterschrieben', 'Falsche Bedeutung'],
  },
});

export const signaturesView: ViewDefinition = {
  name: 'signatures',
  action: 'signature:list',
  section: administration,
  title: () => text.title,
  component: SignaturesView,
};

const PATH = '/api/v1/signatures';
const WITHDRAWAL = 'signature-withdraw';

function meaningText(meaning: string): string {
  return t.meanings[meaning] ?? meaning;
}

function stateText({ state }: Pick<ListedSignature, 'state'>): string {
  return state === 'Valid' ? text.valid : (t.signatureStates[state] ?? state);
}

const COLUMNS: readonly Column<ListedSignature>[] = [
  { key: 'at', title: text.signed, cell: ({ signedAt }) => fullMomentText(signedAt) },
  { key: 'who', title: t.who, cell: ({ signedBy }) => signedBy.displayName },
  { key: 'meaning', title: t.meaning, cell: ({ meaning }) => meaningText(meaning) },
  { key: 'target', title: t.target, cell: ({ target }) => `${word(target.kind)} ${target.name}` },
  { key: 'reason', title: t.reason, cell: ({ reason }) => reason },
  { key: 'state', title: text.state, cell: stateText },
];

function SignaturesView({ id }: { readonly id: string }) {
  return id === '' ? <All /> : <One key={id} id={id} />;
}

function All() {
  const { meaning = '', from = '', to = '' } = view.value.query;
  const question = { site: site.value, meaning, from: instantOf(from), to: instantOf(to) };
  const rows = useLog((cursor) => logPage<ListedSignature>(PATH, question, cursor), Object.values(question));
  return (
    <section class="panel page" aria-labelledby="signatures-title" data-testid="signatures-view">
      <header class="page-head">
        <h2 id="signatures-title">{text.title}</h2>
        <div class="page-filters">
          <select class="select" aria-label={t.meaning} value={meaning} onChange={(event) => narrow({ meaning: event.currentTarget.value })} data-testid="signatures-meaning">
            <option value="">{text.every}</option>
            {Object.entries(t.meanings).map(([name, says]) => (
              <option key={name} value={name}>
                {says}
              </option>
            ))}
          </select>
          <input class="select" type="datetime-local" aria-label={t.from} value={from} onChange={(event) => narrow({ from: event.currentTarget.value })} />
          <input class="select" type="datetime-local" aria-label={t.to} value={to} onChange={(event) => narrow({ to: event.currentTarget.value })} />
          <button type="button" class="button" onClick={() => window.print()}>
            {t.print}
          </button>
        </div>
      </header>
      <Table label={text.title} columns={COLUMNS} rows={rows} keyOf={({ id }) => id} hrefOf={({ id }) => addressOf('signatures', id)} empty={text.none} testid="signatures" />
    </section>
  );
}

function One({ id }: { readonly id: string }) {
  const [found, setFound] = useState<SignatureVerification | null>(null);
  const [fault, setFault] = useState('');
  const [takesBack, setTakesBack] = useState(false);
  const path = `${PATH}/${encodeURIComponent(id)}`;
  const load = (): void => void get<SignatureVerification>(`${path}/verify`).then(setFound, (refused: unknown) => setFault(faultText(refused)));
  useEffect(load, []);
  return (
    <section class="panel page" aria-labelledby="signature-title" data-testid="signature-view">
      <header class="page-head">
        <a class="button" href={addressOf('signatures')}>
          {text.back}
        </a>
        <h2 id="signature-title">{found ? `${meaningText(found.meaning)}: ${word(found.target.kind)} ${found.target.name}` : t.signature}</h2>
        {found?.state === 'Valid' && found.meaning !== WITHDRAWAL && can('signature:withdraw') && (
          <div class="page-filters">
            <button type="button" class="button" onClick={() => setTakesBack(true)} data-testid="signature-withdraw">
              {text.withdraw}
            </button>
          </div>
        )}
      </header>
      <ReadFault text={fault} />
      {found && <Verified {...found} />}
      {takesBack && (
        <SignDialog
          title={text.withdraw}
          meanings={[WITHDRAWAL]}
          lengthMin={1}
          suggestions={text.reasons}
          onSign={async (_, reason) => {
            await post(`${path}/withdraw`, { reason });
            load();
          }}
          onClose={() => setTakesBack(false)}
        >
          <p>{text.withdrawText}</p>
        </SignDialog>
      )}
    </section>
  );
}

function Verified({ meaning, reason, signedBy, signedAt, auditRecordRef, valid, problems, checks, state, why, ...found }: SignatureVerification) {
  return (
    <div class="stack scroll" tabIndex={0}>
      <p class={valid ? 'note' : 'fault'} data-testid="signature-verdict" data-ok={String(valid)}>
        {valid ? text.genuine : `${text.notGenuine} ${problems.join('; ')}`}
      </p>
      <FactList
        rows
        facts={[
          [t.who, signedBy.displayName],
          [text.signed, fullMomentText(signedAt)],
          [t.meaning, meaningText(meaning)],
          [t.reason, reason],
          [t.target, `${word(found.target.kind)} ${found.target.name}`],
          [text.state, [stateText({ state }), why].filter((part) => part !== '').join(': ')],
          [t.record, auditRecordRef],
        ]}
      />
      <h3>{text.checked}</h3>
      <table class="table" data-testid="signature-checks">
        <thead>
          <tr>
            <th scope="col">{text.check}</th>
            <th scope="col">{t.result}</th>
            <th scope="col">{text.finding}</th>
          </tr>
        </thead>
        <tbody>
          {checks.map(({ check, ok, message }) => (
            <tr key={check}>
              <td>{text.checks[check]}</td>
              <td>{ok === null ? text.nothing : ok ? text.good : <strong>{text.bad}</strong>}</td>
              <td class="long">{message}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
