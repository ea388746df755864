/**
 * A text for the camera of a phone (ISO/IEC 18004): dark on light whatever the colours of the page, with the quiet zone that cameras look for. It is the
 * default of its module, so that a page reads it only when one is shown.
 */
import { encode } from 'uqr';

/** Modules of the quiet zone on each side. */
const QUIET = 4;

export interface QrCodeProps {
  readonly text: string;
  /** What it leads to, for who cannot see it. */
  readonly label: string;
}

export default function QrCode({ text, label }: QrCodeProps) {
  const { size, data } = encode(text, { border: QUIET, ecc: 'M' });
  const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
  return (
    <svg class="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges" data-testid="qr-code">
      <rect class="qr-light" width={size} height={size} />
      <path class="qr-dark" d={path} />
    </svg>
  );
}
