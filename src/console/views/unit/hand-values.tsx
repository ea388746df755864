/** Values that a person has written and that stand: on the faceplate with who and when, and in the question for Automatic with the way back. */
import { useEffect, useState } from 'preact/hooks';
import { type ByHand, departedOf, writersOf } from '../../data/hand-values.js';
import { Latest } from '../../data/latest.js';
import { writeTag } from '../../data/modules.js';
import { stale, tagValue } from '../../data/plant.js';
import { can } from '../../data/session.js';
import type { ModuleInfo, TagDescriptor } from '../../data/types.js';
import { Fault } from '../../common/fault.js';
import { words } from '../../common/strings.js';
import { tagText } from '../../common/tag-text.js';
import { momentText } from '../../common/text.js';
import { useSend } from '../../common/use-send.js';

const said = words({
  en: {
    title: 'Written by hand, and so until a recipe or a person writes it again:',
    by: (who: string, when: string) => `by ${who} ${when}`,
    initially: (value: string) => `initially ${value}`,
    back: (value: string) => `Set to ${value}`,
    needsManual: 'To set a value back, set the module to Semi-Automatic or Manual first.',
    stays: 'The control logic drives it again, with these values as they were written. People cannot write them in Automatic.',
  },
  de: {
    title: 'Von Hand geschrieben; bleibt so, bis ein Rezept oder jemand es neu schreibt:',
    by: (who: string, when: string) => `von ${who} ${when}`,
    initially: (value: string) => `anfangs ${value}`,
    back: (value: string) => `Auf ${value} setzen`,
    needsManual: 'Zum Zurücksetzen das Modul zuerst auf Halbautomatik oder Hand stellen.',
    stays: 'Die Steuerungslogik führt es wieder, mit diesen Werten, wie sie geschrieben wurden. In Automatik kann sie niemand schreiben.',
  },
});

const NONE: readonly ByHand[] = [];

/** Read again when a value has changed; where the trail may not be read, all that are not as they begin, without who wrote them. */
export function useByHand(tags: readonly TagDescriptor[]): readonly ByHand[] {
  const departed = departedOf(tags);
  const [found, setFound] = useState(NONE);
  const [latest] = useState(() => new Latest());
  const mayRead = can('audit:read');
  const stamp = departed.map(({ tag }) => `${tag.address} ${tagValue(tag.unit, tag.address).value.value}`).join();
  useEffect(() => {
    if (!mayRead) return;
    void latest.read(() => writersOf(departed), setFound).catch(() => undefined); // asked again with the next change; the view tells a lost link
    return () => latest.forget();
  }, [stamp, mayRead]);
  if (!mayRead) return departed.map((each) => ({ ...each, by: '', at: '' }));
  return found.filter(({ tag }) => departed.some((each) => each.tag.address === tag.address));
}

/** What the module does in Automatic, where values stand. */
export const automaticWithHand = said.stays;

interface HandProps {
  readonly module: ModuleInfo;
  readonly found: readonly ByHand[];
  /** With the way back: an ordinary write of the value that the tag begins with. */
  readonly isOffered?: boolean;
}

export function HandValues({ module, found, isOffered = false }: HandProps) {
  const sending = useSend();
  if (found.length === 0) return null;
  const mayWrite = isOffered && module.mode !== 'Automatic' && can('controlmodule:write-tag');
  return (
    <div class="note" data-testid={isOffered ? 'hand-asked' : 'hand-values'}>
      <p>{said.title}</p>
      <ul>
        {found.map(({ tag, initial, by, at }) => {
          const begins = tagText(tag, { ...tagValue(tag.unit, tag.address).value, value: initial });
          return (
            <li key={tag.address} data-testid={`hand-${tag.name}`}>
              <strong>
                {tag.name.toUpperCase()} <span class="number">{tagText(tag, tagValue(tag.unit, tag.address).value)}</span>
              </strong>{' '}
              {by !== '' && said.by(by, momentText(at))} <span class="hint">({said.initially(begins)})</span>{' '}
              {mayWrite && (
                <button
                  type="button"
                  class="button"
                  disabled={sending.busy || stale.value}
                  onClick={() => void sending.run(() => writeTag(module.name, tag.name, initial))}
                  data-testid={`hand-back-${tag.name}`}
                >
                  {said.back(begins)}
                </button>
              )}
            </li>
          );
        })}
      </ul>
      {isOffered && module.mode === 'Automatic' && <p class="hint">{said.needsManual}</p>}
      <Fault text={sending.fault} code={sending.code} />
    </div>
  );
}
