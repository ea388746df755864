/** A batch as a range: from its start to its end, or to now. The gateway searches. */
import { useEffect, useState } from 'preact/hooks';
import { findBatches } from '../../data/plant.js';
import { boxNowMs } from '../../data/box-clock.js';
import type { BatchItem } from '../../data/types.js';
import { Dialog } from '../../common/dialog.js';
import { Fault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { t, word, words } from '../../common/strings.js';
import { momentText } from '../../common/text.js';

const said = words({
  en: { title: 'Time of a batch', none: 'No batch that was started holds these words.' },
  de: { title: 'Zeit einer Charge', none: 'Keine begonnene Charge enthält diese Wörter.' },
});

interface ChoiceProps {
  readonly onChoose: (fromMs: number, toMs: number) => void;
  readonly onClose: () => void;
}

export function BatchChoice({ onChoose, onClose }: ChoiceProps) {
  const [text, setText] = useState('');
  const [found, setFound] = useState<readonly BatchItem[] | null>(null);
  const [fault, setFault] = useState('');
  useEffect(() => {
    let current = true;
    findBatches(text, 'all').then(
      ({ items }) => current && setFound(items.filter(({ startedAt }) => startedAt !== null && startedAt !== '')),
      (refused: unknown) => current && setFault(faultText(refused)),
    );
    return () => {
      current = false;
    };
  }, [text]);
  return (
    <Dialog title={said.title} testid="batch-range-dialog" reads onClose={onClose}>
      <div class="stack">
        <Fault text={fault} />
        <div class="field">
          <label for="batch-range-search">{t.search}</label>
          <input id="batch-range-search" value={text} autocomplete="off" onInput={(event) => setText(event.currentTarget.value)} data-testid="batch-range-search" />
        </div>
        {found?.length === 0 && <p class="empty">{said.none}</p>}
        <ul class="tag-list" tabIndex={0} aria-label={said.title}>
          {found?.map(({ name, batchID, phase, startedAt, endedAt }) => (
            <li key={name}>
              <button
                type="button"
                class="row"
                onClick={() => {
                  onChoose(Date.parse(startedAt ?? ''), endedAt ? Date.parse(endedAt) : boxNowMs());
                  onClose();
                }}
                data-testid={`range-${batchID || name}`}
              >
                <span class="row-main">
                  <strong>{batchID || name}</strong>
                </span>
                <span class="hint">
                  {word(phase)} · {momentText(startedAt ?? '')}
                </span>
              </button>
            </li>
          ))}
        </ul>
        <div class="dialog-actions">
          <button type="button" class="button primary" onClick={onClose}>
            {t.close}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
