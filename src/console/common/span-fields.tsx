/** A span of time as a filter: it stands in the address, so that what is looked at can be sent to a colleague. */
import { narrow } from '../data/view.js';
import { t } from './strings.js';

/** @param from local time as the field gives it; '' for no bound. */
export function SpanFields({ from, to }: { readonly from: string; readonly to: string }) {
  return (
    <>
      <input
        class="select"
        type="datetime-local"
        step={1}
        aria-label={t.from}
        value={from}
        onChange={(event) => narrow({ from: event.currentTarget.value })}
        data-testid="span-from"
      />
      <input class="select" type="datetime-local" step={1} aria-label={t.to} value={to} onChange={(event) => narrow({ to: event.currentTarget.value })} data-testid="span-to" />
    </>
  );
}
