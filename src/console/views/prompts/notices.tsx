/**
 * A phone in a pocket says that something is asked: by the notices of the browser, for as long as the page is open. A browser offers them over TLS only, and
 * asks the person first.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { prompts } from '../../data/plant.js';
import { Check } from '../../parts/check.js';
import { t, words } from '../../common/strings.js';

const said = words({
  en: { on: 'Tell me of new ones', denied: 'This browser has been told to show no notices of this page.' },
  de: { on: 'Neue melden', denied: 'Diesem Browser wurde gesagt, dass er von dieser Seite nichts melden soll.' },
});

const isOffered = 'Notification' in window && window.isSecureContext;

/** @param unit whose prompts are told; '' all. */
export function Notices({ unit }: { readonly unit: string }) {
  const [isOn, setIsOn] = useState(false);
  const [isDenied, setIsDenied] = useState(false);
  const known = useRef<ReadonlySet<string>>(new Set());
  const asked = prompts.value;
  useEffect(() => {
    const fresh = asked.filter((prompt) => (unit === '' || prompt.unit === unit) && !known.current.has(prompt.id));
    known.current = new Set(asked.map(({ id }) => id));
    if (!isOn) return;
    for (const prompt of fresh) notify(t.promptFor(prompt.unit.toUpperCase(), prompt.batchID), prompt.text, prompt.id);
  }, [asked, isOn, unit]);
  if (!isOffered) return null;
  const choose = async (on: boolean): Promise<void> => {
    const isAllowed = on && (await Notification.requestPermission()) === 'granted';
    setIsDenied(on && !isAllowed);
    setIsOn(isAllowed);
  };
  return (
    <div class="notices">
      <Check id="prompt-notices" label={said.on} isOn={isOn} onChange={(on) => void choose(on)} />
      {isDenied && (
        <p class="hint" role="status">
          {said.denied}
        </p>
      )}
    </div>
  );
}

/** Phones show notices by a service worker only, which a page that keeps nothing has not: there the count in the title and the vibration remain. */
function notify(title: string, body: string, tag: string): void {
  navigator.vibrate?.(400);
  try {
    new Notification(title, { body, tag });
  } catch {
    // not on this phone
  }
}
