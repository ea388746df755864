/** A form that sends: busy while it does, and the refusal in words when it fails. */
import { useState } from 'preact/hooks';
import { faultText } from './fault-text.js';

export interface Sending {
  readonly busy: boolean;
  readonly fault: string;
  readonly refuse: (text: string) => void;
  readonly run: (action: () => Promise<void>) => Promise<void>;
}

export function useSend(): Sending {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState('');
  return {
    busy,
    fault,
    refuse: setFault,
    async run(action) {
      setBusy(true);
      setFault('');
      try {
        await action();
      } catch (refused) {
        setFault(faultText(refused));
      } finally {
        setBusy(false);
      }
    },
  };
}
