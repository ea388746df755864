/** Said on every page that is reached over the network without TLS; at the panel of the box itself nobody listens. */
import { t } from './strings.js';
import { isThisMachine } from './this-machine.js';

export function isInClear({ origin, hostname }: Pick<Location, 'origin' | 'hostname'>): boolean {
  return origin.startsWith('http:') && !isThisMachine(hostname);
}

export function InClear({ strip = false }: { readonly strip?: boolean }) {
  if (!isInClear(location)) return null;
  return (
    <p class={strip ? 'warning strip' : 'warning'} role="status" data-testid="in-clear">
      {t.inClear}
    </p>
  );
}
