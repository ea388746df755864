/** The certificate of the box, for whoever compares it with what his browser shows, or another box. */
import { useEffect, useState } from 'preact/hooks';
import { get } from '../data/api.js';
import { t } from '../common/strings.js';

interface Health {
  readonly tls: { readonly on: boolean; readonly sha256: string; readonly notAfter: string };
}

export function CertificateLine() {
  const [tls, setTls] = useState<Health['tls'] | null>(null);
  useEffect(() => {
    // what cannot be read is not shown; the page has other places that say so
    get<Health>('/api/v1/system/health').then(
      (health) => setTls(health.tls),
      () => undefined,
    );
  }, []);
  if (!tls) return null;
  if (!tls.on) return <p class="hint">{t.noCertificate}</p>;
  return (
    <p class="hint" data-testid="certificate">
      {t.certificate}: <span class="number">{tls.sha256.toUpperCase().replace(/..(?=.)/g, '$&:')}</span>, {t.certificateUntil(tls.notAfter.slice(0, 10))}
    </p>
  );
}
