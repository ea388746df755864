/**
 * Whether what is evidence still is what was recorded (contract 2, Audit; decisions 8.6, D-C-10): each verification with what it looks at, what it
 * found in words, and a run now. What starts found wrong is acknowledged with a signature.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { get, post } from '../../data/api.js';
import { can, config } from '../../data/session.js';
import type { ChangeVerification, EvidenceRun, EvidenceState, TrailGap, TrailVerification } from '../../data/types.js';
import { Fault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { t, word } from '../../common/strings.js';
import { fullMomentText } from '../../common/text.js';
import { useSend } from '../../common/use-send.js';
import { SignDialog } from '../../plant/sign-dialog.js';
import type { ViewDefinition } from '../../frame/view-definition.js';
import { administration } from '../administration.js';
import { ArchiveIntegrity } from '../audit/archive-integrity.js';
import { text } from './integrity-words.js';

export const integrityView: ViewDefinition = { name: 'integrity', action: 'system:integrity', section: administration, title: () => text.title, component: IntegrityView };

/** The trail of years is read through. */
const RUN_MS_MAX = 15 * 60_000;
const PROBLEMS_SHOWN = 20;
const AUDIT = '/api/v1/audit';
const EVIDENCE = '/api/v1/system/integrity';

const patient = () => ({ signal: AbortSignal.timeout(RUN_MS_MAX) });

function IntegrityView() {
  return (
    <section class="panel page" aria-labelledby="integrity-title" data-testid="integrity-view">
      <header class="page-head">
        <h2 id="integrity-title">{text.title}</h2>
      </header>
      <div class="scroll blocks" tabIndex={0}>
        <Everything />
        {can('audit:verify') && <Trail />}
        {can('audit:archive-integrity-latest') && <Archive />}
        {can('changecontrol:verify') && <Changes />}
        {can('audit:list-gaps') && <Gaps />}
      </div>
    </section>
  );
}

interface BlockProps {
  readonly name: string;
  readonly title: string;
  readonly hint: string;
  /** What runs it now; without it nobody does from here. */
  readonly run?: (() => Promise<void>) | undefined;
  readonly children?: ComponentChildren;
}

function Block({ name, title, hint, run, children }: BlockProps) {
  const sending = useSend();
  return (
    <section aria-labelledby={`integrity-${name}`} data-testid={`integrity-${name}`}>
      <h3 id={`integrity-${name}`}>{title}</h3>
      <p class="hint">{hint}</p>
      <Fault text={sending.fault} code={sending.code} />
      {children}
      {run && (
        <p>
          <button type="button" class="button" disabled={sending.busy} onClick={() => void sending.run(run)} data-testid={`integrity-run-${name}`}>
            {sending.busy ? text.running : text.run}
          </button>
        </p>
      )}
    </section>
  );
}

interface VerdictProps {
  readonly ok: boolean;
  readonly says: string;
  /** One sentence each. */
  readonly problems: readonly string[];
}

function Verdict({ ok, says, problems }: VerdictProps) {
  return (
    <>
      <p class={ok ? 'note' : 'fault'} role="status" data-ok={String(ok)}>
        {says} {ok ? text.good : text.bad(problems.length)}
      </p>
      {problems.length > 0 && (
        <ul>
          {problems.slice(0, PROBLEMS_SHOWN).map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
          {problems.length > PROBLEMS_SHOWN && <li>{text.more(problems.length - PROBLEMS_SHOWN)}</li>}
        </ul>
      )}
    </>
  );
}

/** What was read once, and why it could not be. */
function useRead<T>(path: string): { readonly value: T | null; readonly fault: string; readonly again: () => void; readonly set: (value: T) => void } {
  const [value, set] = useState<T | null>(null);
  const [fault, setFault] = useState('');
  const again = (): void => void get<T>(path).then(set, (refused: unknown) => setFault(faultText(refused)));
  useEffect(again, [path]);
  return { value, fault, again, set };
}

function Everything() {
  const { value, fault, set } = useRead<EvidenceState>(EVIDENCE);
  const run = async (): Promise<void> => {
    const last = await post<EvidenceRun>(EVIDENCE, {}, patient());
    set({ running: false, met: [], last });
  };
  return (
    <Block name="everything" title={text.everything} hint={text.everythingHint} run={can('system:verify-integrity') ? run : undefined}>
      <Fault text={fault} />
      {value?.last && <Verdict ok={value.last.ok} says={ranText(value.last)} problems={value.last.problems.map(problemText)} />}
      {value && !value.last && <p>{value.running ? text.running : text.never}</p>}
      {value && value.met.length > 0 && <Verdict ok={false} says={text.met} problems={value.met.map(problemText)} />}
    </Block>
  );
}

function ranText({ finishedAt, checked }: EvidenceRun): string {
  const counts = Object.entries(checked).map(([name, count]) => `${text.parts[name] ?? name} ${count}`);
  return text.ran(fullMomentText(finishedAt), counts.join(', '));
}

function problemText({ part, kind, name, problem }: EvidenceRun['problems'][number]): string {
  return [text.parts[part] ?? part, kind === '' ? '' : `${word(kind)} ${name}`, problem].filter((each) => each !== '').join(': ');
}

function Trail() {
  const [found, setFound] = useState<TrailVerification | null>(null);
  const run = async (): Promise<void> => setFound(await get<TrailVerification>(`${AUDIT}/verify`, patient()));
  return (
    <Block name="trail" title={text.trail} hint={text.trailHint} run={run}>
      {found && <Verdict ok={found.ok} says={text.trailRan(fullMomentText(found.checkedAt), found.checked)} problems={trailProblems(found)} />}
      {found && found.archivedTo > 0 && <p class="hint">{text.archivedTo(found.archivedTo)}</p>}
      {found && <p class="hint">{found.anchors.configured ? text.anchors(found.anchors.checked) : text.noAnchors}</p>}
    </Block>
  );
}

function trailProblems({ problems, anchors }: TrailVerification): string[] {
  const says: Readonly<Record<string, string>> = t.archive.problems;
  return [...problems.map(({ name, problem }) => `${says[problem] ?? problem}: ${name}`), ...anchors.problems];
}

function Archive() {
  const [runs, setRuns] = useState(0);
  const run = async (): Promise<void> => {
    await post(`${AUDIT}/archive-integrity/run`, {}, patient());
    setRuns(runs + 1);
  };
  return (
    <Block name="archive" title={text.archive} hint={text.archiveHint} run={can('audit:run-archive-integrity') ? run : undefined}>
      <ArchiveIntegrity key={runs} />
    </Block>
  );
}

function Changes() {
  const [found, setFound] = useState<ChangeVerification | null>(null);
  const run = async (): Promise<void> => setFound(await get<ChangeVerification>('/api/v1/change-control/verify', patient()));
  const problems = found?.firstInvalid ? [`${found.firstInvalid.name}: ${found.firstInvalid.reason}`] : [];
  return (
    <Block name="changes" title={text.changes} hint={text.changesHint} run={run}>
      {found && <Verdict ok={found.ok} says={text.changesRan(fullMomentText(found.checkedAt), found.checked)} problems={problems} />}
    </Block>
  );
}

function Gaps() {
  const { value, fault, again } = useRead<{ readonly items: readonly TrailGap[] }>(`${AUDIT}/gaps`);
  const [signs, setSigns] = useState(false);
  const open = value?.items.filter(({ acknowledged }) => acknowledged === null) ?? [];
  return (
    <Block name="gaps" title={text.gaps} hint={text.gapsHint}>
      <Fault text={fault} />
      {value?.items.length === 0 && <p class="note">{text.noGaps}</p>}
      {value && value.items.length > 0 && (
        <ul>
          {value.items.map(({ id, foundAt, text: says, acknowledged }) => (
            <li key={id}>
              <span class="number">{fullMomentText(foundAt)}</span>: {says}{' '}
              {acknowledged ? <span class="hint">{text.acknowledged(acknowledged.by, fullMomentText(acknowledged.at), acknowledged.reason)}</span> : <strong>{text.open}</strong>}
            </li>
          ))}
        </ul>
      )}
      {open.length > 0 && can('audit:acknowledge-gaps') && (
        <button type="button" class="button" onClick={() => setSigns(true)} data-testid="gaps-acknowledge">
          {text.acknowledge}
        </button>
      )}
      {signs && (
        <SignDialog
          title={text.gaps}
          meanings={['audit-gap-acknowledge']}
          lengthMin={config.value?.reasonMinLength ?? 1}
          suggestions={text.reasons}
          onSign={async (_, reason) => {
            await post(`${AUDIT}/gaps/acknowledge`, { reason });
            again();
          }}
          onClose={() => setSigns(false)}
        >
          <p>{text.acknowledgeText(open.length)}</p>
        </SignDialog>
      )}
    </Block>
  );
}
