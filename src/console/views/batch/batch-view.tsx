/** One batch: its procedure, the chart that runs, what it waits for, what it asks and says, and the commands. */
import { useEffect, useState } from 'preact/hooks';
import { batchFault, detail, gone, select } from '../../data/batch.js';
import { watchPlan } from '../../data/plan.js';
import { watchProcedure } from '../../data/procedure.js';
import { can } from '../../data/session.js';
import { readMeanings, readSigned, type Signed, signResource } from '../../data/signatures.js';
import { isFinal } from '../../data/states.js';
import { addressOf, narrow, view } from '../../data/view.js';
import { ReadFault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { meaningText, t, words } from '../../common/strings.js';
import { momentText } from '../../common/text.js';
import { Facts } from '../../plant/batch-detail.js';
import { ChangeBatch } from '../../plant/change-batch.js';
import { CommandBar } from '../../plant/command-bar.js';
import { ManualLevels } from '../../plant/manual-levels.js';
import { SignDialog } from '../../plant/sign-dialog.js';
import { StateBadge } from '../../plant/state-badge.js';
import { Badge } from '../../parts/badge.js';
import { Segments } from '../../parts/segments.js';
import { HappenedTab } from './happened-tab.js';
import { ProcedureTab } from './procedure-tab.js';
import { ValuesTab } from './values-tab.js';

const recordTitle = (): string => words({ en: 'Record', de: 'Chargenprotokoll' });
const MEANINGS = ['Reviewed', 'Witnessed', 'Approved'];

const TABS = ['procedure', 'happened', 'values'] as const;
type Tab = (typeof TABS)[number];

/** *Back* leaves the batch, whatever was looked at in it; what one tab is narrowed by stays when it is left. */
function showTab(tab: Tab): void {
  narrow({ tab: tab === 'procedure' ? '' : tab });
}

export function BatchView({ id: name }: { readonly id: string }) {
  useEffect(() => select(name), [name]);
  useEffect(() => watchProcedure(), []);
  useEffect(watchPlan, []);
  const [signing, setSigning] = useState(false);
  const [meanings, setMeanings] = useState<readonly string[]>(MEANINGS);
  const [shown, setShown] = useState<string>();
  const [signedCount, setSignedCount] = useState(0);
  const [who, setWho] = useState<readonly Signed[]>([]);
  const batch = detail.value;
  const phase = batch?.phase;
  const tab = TABS.find((each) => each === view.value.query.tab) ?? 'procedure';
  useEffect(() => {
    if (!can('signature:create')) return;
    let isCurrent = true; // what is signed is what was asked about last
    readMeanings('Batch', name).then(
      ({ items, digest }) => {
        if (!isCurrent) return;
        setShown(digest);
        setMeanings(items.filter(({ applicable }) => applicable !== false).map(({ meaning }) => meaning));
      },
      // a gateway that does not tell judges it all the same
      () => isCurrent && setMeanings(MEANINGS.filter((meaning) => meaning !== 'Approved' || isFinal(phase ?? ''))),
    );
    return () => {
      isCurrent = false;
    };
  }, [name, phase, signing]);
  useEffect(() => {
    if (!can('signature:list')) return;
    let isCurrent = true;
    readSigned('Batch', name).then(
      (signed) => isCurrent && setWho(signed),
      () => undefined, // asked again with the next signature
    );
    return () => {
      isCurrent = false;
    };
  }, [name, signedCount]);
  if (!batch || batch.name !== name)
    return (
      <div class="panel page">
        <ReadFault text={batchFault.value === undefined ? '' : faultText(batchFault.value)} />
        <p class="empty" role="status" data-testid="batch-none">
          {gone.value ? t.noBatch(name) : t.reading}
        </p>
      </div>
    );
  return (
    <div class={`batch-page batch-page-${tab}`} data-testid="batch-view">
      <section class="panel batch-top" aria-labelledby="batch-view-title">
        <header class="page-head">
          <h2 id="batch-view-title">
            {t.batch} {batch.batchID}
          </h2>
          <StateBadge state={batch.phase} testid="batch-view-state" />
          {batch.heldInside && <Badge look="soft">{t.waitsInside}</Badge>}
          <Facts batch={batch} />
          <Segments label={t.show} value={tab} options={TABS.map((each) => [each, t.batchTabs[each]])} onChoose={showTab} testid="batch-tab" />
          {batch.recordRef !== '' && can('batchrecord:read') && (
            <a class="button" href={addressOf('record', batch.recordRef)} data-testid="to-record">
              {recordTitle()}
            </a>
          )}
          <ChangeBatch key={batch.name} batch={batch} />
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
      {tab === 'procedure' && <ProcedureTab batch={batch} />}
      {tab === 'happened' && <HappenedTab batch={batch} />}
      {tab === 'values' && <ValuesTab batch={batch} />}
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
          {who}: {meaningText(meaning)} <span class="hint number">{momentText(at)}</span>
          {state !== 'Valid' && <strong> {t.signatureStates[state] ?? state}</strong>}
        </span>
      ))}
    </p>
  );
}
