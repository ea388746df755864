/** A form that sends: busy while it does, and the refusal in words when it fails. */
import { useRef, useState } from 'preact/hooks';
import { ApiError } from '../data/api.js';
import { faultText } from './fault-text.js';

export interface Sending {
  readonly busy: boolean;
  readonly fault: string;
  /** Of the refusal; empty where the fault is none of the gateway's. */
  readonly code: string;
  readonly refuse: (text: string) => void;
  readonly run: (action: () => Promise<void>) => Promise<void>;
}

export function useSend(): Sending {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState('');
  const [code, setCode] = useState('');
  const running = useRef(false); // what is drawn as busy is so a moment later
  return {
    busy,
    fault,
    code,
    refuse(text) {
      setCode('');
      setFault(text);
    },
    async run(action) {
      if (running.current) return;
      running.current = true;
      setBusy(true);
      setCode('');
      setFault('');
      try {
        await action();
      } catch (refused) {
        setCode(refused instanceof ApiError ? refused.code : '');
        setFault(faultText(refused));
      } finally {
        running.current = false;
        setBusy(false);
      }
    },
  };
}
