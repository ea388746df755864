/** One line above the audit trail: when its archive was checked last, and what was found first. Nothing while it never was. */
import { useEffect, useState } from 'preact/hooks';
import { type IntegrityRun, readIntegrity } from '../data/archive.js';
import { can } from '../data/session.js';
import { faultText } from '../common/fault-text.js';
import { t } from '../common/strings.js';
import { momentText } from '../common/text.js';

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
  const { file = '', problem = '', sequence } = archives.find((archive) => !archive.ok) ?? {};
  const words: Readonly<Record<string, string>> = t.archive.problems;
  return t.archive.bad(words[problem] ?? problem, file, sequence);
}
