/** A growing log, page by page: read again when the question changes, longer when the reader asks for more. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Latest } from '../data/latest.js';
import type { RequestOptions } from '../data/api.js';
import type { Page } from '../data/listed.js';
import { faultText } from './fault-text.js';

const BY_ITSELF = { background: true };

export interface Log<T> {
  readonly items: readonly T[];
  /** Of all pages; undefined where the gateway does not count them. */
  readonly total: number | undefined;
  /** Files whose part of the log is not in `items`. */
  readonly unreadable: readonly string[];
  /** Entries that are not in `items`, because they are damaged on the box. */
  readonly damaged: readonly string[];
  readonly fault: string;
  readonly busy: boolean;
  readonly hasMore: boolean;
  readonly more: () => void;
  readonly again: () => void;
}

/**
 * @param read with the options of the request: what the page asks by itself keeps no session alive.
 * @param question the parts of the query; a new one starts from the first page.
 * @param news when it changes the log has grown: it is read again, unless somebody has gone back to older pages.
 */
export function useLog<T>(read: (cursor: string, options?: RequestOptions) => Promise<Page<T>>, question: readonly unknown[], news?: unknown): Log<T> {
  const [items, setItems] = useState<readonly T[]>([]);
  const [total, setTotal] = useState<number | undefined>(undefined);
  const [cursor, setCursor] = useState<string | null>(null);
  const [unreadable, setUnreadable] = useState<readonly string[]>([]);
  const [damaged, setDamaged] = useState<readonly string[]>([]);
  const [fault, setFault] = useState('');
  const [busy, setBusy] = useState(false);
  const [count, setCount] = useState(0);
  const [latest] = useState(() => new Latest()); // an answer to an old question is thrown away
  const isBack = useRef(false);
  const look = async (from: string, before: readonly T[], options?: RequestOptions): Promise<void> => {
    setBusy(true);
    try {
      const isLast = await latest.read(
        () => read(from, options),
        (page) => {
          setItems([...before, ...page.items]);
          setCursor(page.nextCursor);
          setTotal(page.total);
          const more = (known: readonly string[], found: readonly (string | number)[] = []) => [...new Set([...(from === '' ? [] : known), ...found.map(String)])];
          setUnreadable((known) => more(known, page.unreadable));
          setDamaged((known) => more(known, page.damaged));
          isBack.current = from !== ''; // an older page may be empty: the archive is looked through piece by piece
          setFault('');
        },
      );
      if (isLast) setBusy(false);
    } catch (refused) {
      setFault(faultText(refused));
      setBusy(false);
    }
  };
  useEffect(() => {
    void look('', []);
    return () => latest.forget();
  }, [...question, count]);
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current && !isBack.current) void look('', [], BY_ITSELF);
    isFirst.current = false;
  }, [news]);
  const more = async (): Promise<void> => {
    if (cursor !== null) await look(cursor, items);
  };
  return { items, total, unreadable, damaged, fault, busy, hasMore: cursor !== null, more: () => void more(), again: () => setCount(count + 1) };
}

const nothing = (): void => undefined;

/** Of what is there as a whole. */
export function wholeLog<T>(items: readonly T[]): Log<T> {
  return { items, total: items.length, unreadable: [], damaged: [], fault: '', busy: false, hasMore: false, more: nothing, again: nothing };
}
