/** What is asked, and where: with one recipe on two trains the question alone does not say. */
import { useEffect, useState } from 'preact/hooks';
import { type Asked, readAsked } from '../data/prompt-answers.js';
import type { Prompt } from '../data/types.js';
import { FactList } from '../common/fact-list.js';
import { t, words } from '../common/strings.js';
import { momentText, recordText, unitText } from '../common/text.js';

const said = words({
  en: { earlier: 'Answered before in this batch' },
  de: { earlier: 'Bisher in dieser Charge geantwortet' },
});

export function PromptAsked({ prompt }: { readonly prompt: Prompt }) {
  const [{ path, limits, earlier }, setAsked] = useState<Asked>({ path: '', limits: [], earlier: [] });
  useEffect(() => {
    let current = true; // another question may be opened before this is answered
    readAsked(prompt).then(
      (found) => current && setAsked(found),
      () => undefined, // what the prompt itself says stands there anyway
    );
    return () => {
      current = false;
    };
  }, [prompt.id]);
  const step = [path, prompt.stepName].filter((part) => part !== '').join(' / ');
  const facts: readonly (readonly [string, string])[] = [
    [t.unit, prompt.unit.toUpperCase()],
    [t.batch, prompt.batchID || prompt.batch],
    [t.step, step],
    [t.askedAt, momentText(prompt.timestamp)],
    ...limits.map(({ name, value, unit }): readonly [string, string] => [name, `${recordText(value, unit !== '')} ${unitText(unit)}`.trim()]),
  ];
  return (
    <div class="asked" data-testid="prompt-asked">
      <FactList facts={facts} />
      {earlier.length > 0 && (
        <>
          <h3>{said.earlier}</h3>
          <ul class="earlier-answers" data-testid="prompt-earlier">
            {earlier.map((event) => (
              <li key={event.id}>
                <time class="number hint">{momentText(event.ts)}</time> {event.message}: <strong>{recordText(event.value, false)}</strong>{' '}
                <span class="hint">{event.person?.displayName ?? ''}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
