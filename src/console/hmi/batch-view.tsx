/** One batch: its procedure, the chart that runs, what it waits for, what it asks and says, and the commands. */
import { useEffect, useState } from 'preact/hooks';
import { detail, gone, messages, select } from '../data/batch.js';
import { prompts } from '../data/plant.js';
import { watchProcedure } from '../data/procedure.js';
import { can } from '../data/session.js';
import { readMeanings, readSigned, type Signed, signResource } from '../data/signatures.js';
import { isFinal } from '../data/states.js';
import { type BatchDetail, isNumeric } from '../data/types.js';
import { Chips } from '../common/chips.js';
import { t, word } from '../common/strings.js';
import { momentText, recordText, unitText } from '../common/text.js';
import { Facts, Messages, Trouble } from './batch-detail.js';
import { CommandBar } from './command-bar.js';
import { ElementView } from './element-view.js';
import { ManualLevels } from './manual-levels.js';
import { ProcedureTree } from './procedure-tree.js';
import { PromptList } from './prompt-inbox.js';
import { SignDialog } from './sign-dialog.js';
import { StateBadge } from './state-badge.js';
import { Happened } from './what-happened.js';
import type { ViewDefinition } from './view-definition.js';

const MEANINGS = ['Reviewed', 'Witnessed', 'Approved'];

const TABS = ['messages', 'happened', 'parameters', 'outputs'] as const;
type Tab = (typeof TABS)[number];

export const batchView: ViewDefinition = { name: 'batch', title: (id) => `${t.batch} ${id}`, component: ({ id }) => <BatchView name={id} /> };

function BatchView({ name }: { readonly name: string }) {
  useEffect(() => select(name), [name]);
  useEffect(() => watchProcedure(), []);
  const [signing, setSigning] = useState(false);
  const [meanings, setMeanings] = useState<readonly string[]>(MEANINGS);
  const [shown, setShown] = useState<string>();
  const [signedCount, setSignedCount] = useState(0);
  const [who, setWho] = useState<readonly Signed[]>([]);
  const batch = detail.value;
  const phase = batch?.phase;
  useEffect(() => {
    if (!can('signature:create')) return;
    readMeanings('Batch', name).then(
      ({ items, digest }) => {
        setShown(digest);
        setMeanings(items.filter(({ applicable }) => applicable !== false).map(({ meaning }) => meaning));
      },
      () => setMeanings(MEANINGS.filter((meaning) => meaning !== 'Approved' || isFinal(phase ?? ''))), // a gateway that does not tell judges it all the same
    );
  }, [name, phase, signing]);
  useEffect(() => {
    if (can('signature:list')) readSigned('Batch', name).then(setWho, () => undefined); // asked again with the next signature
  }, [name, signedCount]);
  if (!batch || batch.name !== name)
    return (
      <p class="panel page empty" role="status" data-testid="batch-none">
        {gone.value ? t.noBatch(name) : t.reading}
      </p>
    );
  return (
    <div class="batch-page" data-testid="batch-view">
      <section class="panel batch-top" aria-labelledby="batch-view-title">
        <header class="page-head">
          <h2 id="batch-view-title">
            {t.batch} {batch.batchID}
          </h2>
          <StateBadge state={batch.phase} testid="batch-view-state" />
          {batch.heldInside && <span class="state state-attention">{t.waitsInside}</span>}
          <Facts batch={batch} />
          {can('signature:create') && meanings.length > 0 && (
            <button type="button" class="button sign-button" onClick={() => setSigning(true)} data-testid="sign">
              {t.signVerb}
            </button>
          )}
        </header>
        <CommandBar batch={batch} />
        <ManualLevels key={batch.name} batch={batch} />
        <Signatures signed={who} />
      </section>
      <section class="panel" aria-label={t.procedure}>
        <ProcedureTree />
      </section>
      <ElementView />
      <Side batch={batch} />
      {signing && (
        <SignDialog
          title={`${t.batch} ${batch.batchID}`}
          meanings={meanings}
          lengthMin={1}
          onSign={(meaning, reason) => signResource('Batch', batch.name, meaning, reason, shown)}
          onClose={() => {
            setSigning(false);
            setSignedCount(signedCount + 1);
          }}
        />
      )}
    </div>
  );
}

/** Nobody signs twice unknowingly, and who comes later sees what has been signed. */
function Signatures({ signed }: { readonly signed: readonly Signed[] }) {
  if (signed.length === 0) return null;
  return (
    <p class="signatures" data-testid="signatures">
      <strong>{t.signedBefore}</strong>
      {signed.map(({ id, at, who, meaning, state, words }) => (
        <span key={id} title={words} class={state === 'Valid' ? undefined : 'signature-past'}>
          {who}: {t.meanings[meaning] ?? meaning} <span class="hint number">{momentText(at)}</span>
          {state !== 'Valid' && <strong> {t.signatureStates[state] ?? state}</strong>}
        </span>
      ))}
    </p>
  );
}

function Side({ batch }: { readonly batch: BatchDetail }) {
  const [tab, setTab] = useState<Tab>('messages');
  const waiting = prompts.value.filter((prompt) => prompt.batch === batch.name);
  return (
    <section class="panel batch-side" aria-label={t.messages}>
      <div class="batch-side-scroll scroll" tabIndex={0} role="group" aria-label={t.messages}>
        <Trouble batch={batch} />
        <PromptList waiting={waiting} none="" />
        <Chips label={t.show} value={tab} options={TABS.map((each) => [each, t.batchTabs[each]])} onChoose={setTab} testid="batch-tab" />
        {tab === 'messages' && <Messages items={messages.value} />}
        {tab === 'happened' && <Happened />}
        {tab === 'parameters' && <Values rows={batch.parameterValues.map((each) => ({ ...each, isNumber: each.unit !== '', hint: word(each.source) }))} testid="parameters" />}
        {tab === 'outputs' && <Values rows={batch.outputs.map((each) => ({ ...each, isNumber: isNumeric(each.type), hint: each.element }))} testid="outputs" />}
      </div>
    </section>
  );
}

interface ValueRow {
  readonly name: string;
  readonly value: string;
  readonly unit: string;
  readonly isNumber: boolean;
  readonly hint: string;
}

function Values({ rows, testid }: { readonly rows: readonly ValueRow[]; readonly testid: string }) {
  if (rows.length === 0) return <p class="empty">{t.none}</p>;
  return (
    <ul class="lines" data-testid={testid}>
      {rows.map((row) => (
        <li class="line" key={`${row.hint} ${row.name}`}>
          <span class="line-name">
            {row.name} <span class="hint">{row.hint}</span>
          </span>
          <span class="line-value number">
            {recordText(row.value, row.isNumber)} {unitText(row.unit)}
          </span>
        </li>
      ))}
    </ul>
  );
}
