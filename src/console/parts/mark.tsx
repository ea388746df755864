/** A letter for what is to be known of a value or a device: taken by hand, forced, bypassed, old, simulated, not to be trusted, interlocked. */
import { t, word, words } from '../common/strings.js';
import './mark.css';

type MarkLook = 'soft' | 'critical' | 'outline' | 'bare';

const MARKS = {
  manual: { sign: t.modeLetters.Manual, name: word('Manual'), look: 'soft' },
  forced: { sign: 'F', name: words({ en: 'Forced', de: 'Geforct' }), look: 'soft' },
  bypassed: { sign: words({ en: 'B', de: 'Ü' }), name: words({ en: 'Bypassed', de: 'Überbrückt' }), look: 'soft' },
  stale: { sign: words({ en: 'S', de: 'V' }), name: words({ en: 'Stale', de: 'Veraltet' }), look: 'outline' },
  simulated: { sign: '~', name: words({ en: 'Simulated', de: 'Simuliert' }), look: 'outline' },
  uncertain: { sign: '?', name: t.qualities.Uncertain ?? '', look: 'soft' },
  bad: { sign: '?', name: t.qualities.Bad ?? '', look: 'critical' },
  fault: { sign: '!', name: words({ en: 'Fault', de: 'Störung' }), look: 'critical' },
  interlocked: { sign: '', name: t.interlocked, look: 'bare' },
} as const satisfies Readonly<Record<string, { readonly sign: string; readonly name: string; readonly look: MarkLook }>>;

export type MarkKind = keyof typeof MARKS;
export const MARK_KINDS = Object.keys(MARKS) as readonly MarkKind[];

export function markName(kind: MarkKind): string {
  return MARKS[kind].name;
}

/** @param quiet somebody's choice that is no departure: an outline without colour. */
export function Mark({ kind, quiet = false }: { readonly kind: MarkKind; readonly quiet?: boolean }) {
  const { sign, name, look } = MARKS[kind];
  return (
    <span class={`mark mark-${quiet ? 'outline' : look}`} role="img" aria-label={name} title={name} data-mark={kind}>
      {kind === 'interlocked' ? (
        <svg viewBox="0 0 20 20" aria-hidden="true">
          <path class="mark-shackle" d="M6 10V7a4 4 0 0 1 8 0v3" />
          <rect x="4" y="9" width="12" height="8" rx="1" />
        </svg>
      ) : (
        sign
      )}
    </span>
  );
}
