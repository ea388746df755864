/** Said on every page that is reached over the network without TLS; at the panel of the box itself nobody listens. */
import { t } from './strings.js';

/** As `isLoopback` of the appliance, by what a browser calls this machine. */
const THIS_MACHINE = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

export function isInClear({ origin, hostname }: Pick<Location, 'origin' | 'hostname'>): boolean {
  return origin.startsWith('http:') && !THIS_MACHINE.test(hostname);
}

export function InClear({ strip = false }: { readonly strip?: boolean }) {
  if (!isInClear(location)) return null;
  return (
    <p class={strip ? 'warning strip' : 'warning'} role="status" data-testid="in-clear">
      {t.inClear}
    </p>
  );
}
