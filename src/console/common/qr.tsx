/** A QR code, read when the first one is shown. */
import { lazy, Suspense } from 'preact/compat';
import type { QrCodeProps } from '../parts/qr-code.js';
import '../parts/qr-code.css';

const QrCode = lazy(() => import('../parts/qr-code.js'));

export function Qr(props: QrCodeProps) {
  return (
    <Suspense fallback={null}>
      <QrCode {...props} />
    </Suspense>
  );
}
