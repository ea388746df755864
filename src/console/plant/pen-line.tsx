/** How the curve of a pen looks. Lines are told apart by dash as well as by shade: not everybody sees colours. */
import './trend.css';

export const PEN_COLOURS = ['--pen-1', '--pen-2', '--pen-3', '--pen-4', '--pen-5', '--pen-6'] as const;
export const DASHES: readonly (number[] | undefined)[] = [undefined, [8, 4], [2, 3], [12, 4, 2, 4], [4, 2], [16, 6]];

export function PenLine({ at }: { readonly at: number }) {
  return (
    <svg class={`pen-line pen-line-${(at % PEN_COLOURS.length) + 1}`} viewBox="0 0 30 6" aria-hidden="true">
      <line x1="0" y1="3" x2="30" y2="3" stroke-dasharray={DASHES[at % DASHES.length]?.join(' ')} />
    </svg>
  );
}
