/** A growing log, page by page: read again when the question changes, longer when the reader asks for more. */
import { useEffect, useState } from 'preact/hooks';
import type { LogPage } from '../data/types.js';
import { faultText } from './fault-text.js';

export interface Log<T> {
  readonly items: readonly T[];
  readonly fault: string;
  readonly busy: boolean;
  readonly hasMore: boolean;
  readonly more: () => void;
  readonly again: () => void;
}

/** @param question the parts of the query; a new one starts from the first page. */
export function useLog<T>(read: (cursor: string) => Promise<LogPage<T>>, question: readonly unknown[]): Log<T> {
  const [items, setItems] = useState<readonly T[]>([]);
  const [cursor, setCursor] = useState<string | null>(null);
  const [fault, setFault] = useState('');
  const [busy, setBusy] = useState(false);
  const [count, setCount] = useState(0);
  useEffect(() => {
    let current = true; // an answer to an old question is thrown away
    setBusy(true);
    read('')
      .then((page) => {
        if (!current) return;
        setItems(page.items);
        setCursor(page.nextCursor);
        setFault('');
      })
      .catch((refused: unknown) => current && setFault(faultText(refused)))
      .finally(() => current && setBusy(false));
    return () => {
      current = false;
    };
  }, [...question, count]);
  const more = async (): Promise<void> => {
    if (cursor === null) return;
    setBusy(true);
    try {
      const page = await read(cursor);
      setItems([...items, ...page.items]);
      setCursor(page.nextCursor);
    } catch (refused) {
      setFault(faultText(refused));
    } finally {
      setBusy(false);
    }
  };
  return { items, fault, busy, hasMore: cursor !== null, more: () => void more(), again: () => setCount(count + 1) };
}
