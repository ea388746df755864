/** What the gateway says to a question, for as long as somebody looks: an old answer never stands for a new question. */
import { useEffect, useState } from 'preact/hooks';
import { Latest } from '../data/latest.js';
import { faultText } from './fault-text.js';

const AGAIN_MS = 3000;

/**
 * @param question what the answer is about; of another one nothing is known yet.
 * @param news when it changes the answer may be another: it is asked again at once, and now and then in any case.
 * @param firstMs what is waited before a new question, so that not each letter is one.
 * @returns null while it is asked for the first time; a text says why there is no answer.
 */
export function useAsked<T extends object>(ask: () => Promise<T>, question: string, news = '', firstMs = 0): T | string | null {
  const [found, setFound] = useState<{ readonly of: string; readonly answer: T | string } | null>(null);
  const [latest] = useState(() => new Latest());
  const isNew = found?.of !== question;
  useEffect(() => {
    let timer = 0;
    let ended = false;
    const look = async (): Promise<void> => {
      const say = (answer: T | string): void => setFound({ of: question, answer });
      if (!document.hidden) await latest.read(ask, say).catch((fault: unknown) => say(faultText(fault)));
      if (!ended) timer = window.setTimeout(() => void look(), AGAIN_MS);
    };
    timer = window.setTimeout(() => void look(), isNew ? firstMs : 0);
    return () => {
      ended = true;
      clearTimeout(timer);
      latest.forget();
    };
  }, [question, news]);
  return isNew || found === null ? null : found.answer;
}
