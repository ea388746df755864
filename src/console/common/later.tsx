/** Parts of the page that come after it: the first view is there sooner, and a panel opens the others without waiting, for they are read ahead. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { faultText } from './fault-text.js';
import { ReadFault } from './fault.js';
import { t } from './strings.js';

type Read = () => Promise<unknown>;

const AGAIN_MS = 5000;
const TAKEN_KEY = 'lineside.taken';
const TAKE_AGAIN_MS = 60_000;

/** Each once, in the order in which the page names them. */
const ahead: Read[] = [];

/** One after the other: none of them is as urgent as what the page is asked for meanwhile. */
export async function readAhead(): Promise<void> {
  for (let read = ahead.shift(); read; read = ahead.shift()) await read().catch(() => undefined); // asked again when it is shown
}

/** After an update of the box the parts of the old console are gone: the page takes the new one, and the address keeps the view. */
function takeNewConsole(): void {
  try {
    const takenMs = Date.now() - Number(sessionStorage.getItem(TAKEN_KEY) ?? 0);
    if (takenMs >= 0 && takenMs < TAKE_AGAIN_MS) return; // the box is away, not new
    sessionStorage.setItem(TAKEN_KEY, String(Date.now()));
  } catch {
    return; // a browser that keeps nothing would load the page again and again
  }
  location.reload();
}

/** @param read of the module that has the part. The part is drawn at once where it has been read already. */
export function later<Props extends object>(read: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let found: ComponentType<Props> | undefined;
  let reading: Promise<ComponentType<Props>> | undefined;
  const ask = async (): Promise<void> => {
    reading ??= read();
    try {
      found = await reading;
    } finally {
      reading = undefined;
    }
  };
  ahead.push(ask);
  return function Later(props: Props) {
    const [, setRead] = useState(found !== undefined);
    const [fault, setFault] = useState('');
    useEffect(() => {
      let again = 0;
      const get = (): void => {
        ask().then(
          () => setRead(true),
          (refused: unknown) => {
            setFault(faultText(refused));
            takeNewConsole();
            again = window.setTimeout(get, AGAIN_MS);
          },
        );
      };
      // read ahead since it was drawn, or still to be read
      if (found) setRead(true);
      else get();
      return () => clearTimeout(again);
    }, []);
    const Found = found;
    if (Found) return <Found {...props} />;
    return fault === '' ? <p class="empty">{t.reading}</p> : <ReadFault text={fault} />;
  };
}
