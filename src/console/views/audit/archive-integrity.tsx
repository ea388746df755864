/** Lines above the audit trail: when its archive was checked last and what was found; nothing while it never was. And which files a list had to leave out. */
import { useEffect, useState } from 'preact/hooks';
import { readIntegrity } from '../../data/archive.js';
import type { IntegrityRun } from '../../data/types.js';
import { can } from '../../data/session.js';
import { faultText } from '../../common/fault-text.js';
import { t } from '../../common/strings.js';
import { momentText } from '../../common/text.js';

const NAMED_MAX = 3;

export function ArchiveIntegrity() {
  const [run, setRun] = useState<IntegrityRun | null>(null);
  const [fault, setFault] = useState('');
  const allowed = can('audit:archive-integrity-latest');
  useEffect(() => {
    let current = true; // the view may have been left before the answer
    if (allowed)
      readIntegrity().then(
        (read) => current && setRun(read),
        (refused: unknown) => current && setFault(faultText(refused)),
      );
    return () => {
      current = false;
    };
  }, [allowed]);
  if (fault !== '') return <p class="fault">{t.readFailed(fault)}</p>;
  if (!run) return null;
  return (
    <p class={run.ok ? 'hint' : 'fault'} data-testid="archive-integrity" data-ok={String(run.ok)}>
      {t.archive.checked(momentText(run.finishedAt), run.archives.length, run.checked)} {run.ok ? t.archive.good : firstProblem(run)}
    </p>
  );
}

/** A word for each code of the gateway; one that is not known yet is shown as it is. */
function firstProblem({ archives }: IntegrityRun): string {
  const bad = archives.filter((archive) => !archive.ok);
  const { file = '', problem = '', sequence, repacked } = bad[0] ?? {};
  const words: Readonly<Record<string, string>> = t.archive.problems;
  const text = t.archive.bad(words[problem] ?? problem, file, sequence);
  return [text, ...(repacked && problem !== 'repacked' ? [t.archive.packedAgain] : []), ...(bad.length > 1 ? [t.archive.moreBad(bad.length - 1)] : [])].join(' ');
}

/** A list that is short of records must not look like one that has them all. */
export function UnreadableArchives({ files }: { readonly files: readonly string[] }) {
  if (files.length === 0) return null;
  const more = files.length - NAMED_MAX;
  return (
    <p class="fault" role="status" data-testid="archive-unreadable">
      {t.archive.unreadable(files.slice(0, NAMED_MAX).join(', '))} {more > 0 ? t.archive.moreFiles(more) : ''}
    </p>
  );
}
