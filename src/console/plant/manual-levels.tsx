/**
 * Levels of a procedure that stand in Manual. A phase takes those above it along, and nothing goes back by itself (decisions 3.7): who set it,
 * and the one after him, must see which they are, and take them back with one touch.
 */
import { useState } from 'preact/hooks';
import { setMode } from '../data/modules.js';
import { readElement } from '../data/procedure.js';
import { readSoon } from '../data/batch.js';
import { can } from '../data/session.js';
import type { BatchDetail, Level } from '../data/types.js';
import { Dialog } from '../common/dialog.js';
import { Fault } from '../common/fault.js';
import { t } from '../common/strings.js';
import { momentText } from '../common/text.js';
import { useSend } from '../common/use-send.js';

/** As the tree names it. */
export function levelText({ path }: Pick<Level, 'path'>): string {
  return path === '' ? t.theProcedure : path;
}

export function levelsText(levels: readonly Pick<Level, 'path'>[]): string {
  return levels.map(levelText).join(', ');
}

/** Why they are: what was set to Manual first, and when. Nothing where a release before this one has set them. */
function causesOf(levels: readonly Level[]): string {
  const causes = new Map(levels.flatMap(({ manual }) => (manual ? [[`${manual.because.kind} ${manual.because.name}`, manual] as const] : [])));
  return [...causes.values()].map(({ since, because }) => t.manualCause(because.kind === 'Unit' ? because.name.toUpperCase() : levelText(because), momentText(since))).join(' ');
}

/** @param isShort beside other things: which levels they are is told by the question, and by the page of the batch. */
export function ManualLevels({ batch, isShort = false }: { readonly batch: BatchDetail; readonly isShort?: boolean }) {
  const [asked, setAsked] = useState<readonly Level[] | null>(null);
  const { inManual } = batch;
  const standing = batch.phase === 'Running' && batch.blockedBy.some(({ reason }) => reason === 'manual');
  const causes = causesOf(inManual);
  return (
    <>
      {inManual.length > 0 && (
        <div class="warning manual-levels" data-testid="manual-levels" data-standing={String(standing)}>
          <p>
            <strong>{standing ? t.standsInManual : t.inManual}:</strong> {isShort ? t.levelCount(inManual.length) : `${levelsText(inManual)}. ${causes} ${t.manualNotBack}`}
          </p>
          <button type="button" class="button" disabled={!can('mode:set')} onClick={() => setAsked(inManual)} data-testid="back-to-automatic">
            {t.backToAutomatic}
          </button>
        </div>
      )}
      {asked && <BackDialog levels={asked} title={t.backTitle(batch.batchID)} onClose={() => setAsked(null)} />}
    </>
  );
}

interface BackDialogProps {
  readonly title: string;
  /** What is told is what is sent. */
  readonly levels: readonly Level[];
  readonly onClose: () => void;
}

function BackDialog({ title, levels, onClose }: BackDialogProps) {
  const sending = useSend();
  const submit = (event: Event): void => {
    event.preventDefault();
    const [first, ...also] = levels;
    if (!first) return;
    void sending.run(async () => {
      await setMode(first.kind, first.name, 'Automatic', also);
      readSoon();
      await readElement();
      onClose();
    });
  };
  return (
    <Dialog title={title} testid="back-dialog" onClose={onClose}>
      <form onSubmit={submit} noValidate>
        <p>{t.backWords}</p>
        <ul>
          {levels.map((level) => (
            <li key={`${level.kind} ${level.name}`}>{levelText(level)}</li>
          ))}
        </ul>
        <p>{t.elementModes.Automatic}</p>
        <Fault text={sending.fault} code={sending.code} />
        <div class="dialog-actions">
          <button type="button" class="button" onClick={onClose}>
            {t.cancel}
          </button>
          <button type="submit" class="button primary" disabled={sending.busy} data-testid="back-send">
            {t.backToAutomatic}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
