/** How far a step or a batch is. */
import { type Live, read } from './live.js';
import './progress.css';

/** @param share from 0 to 1. */
export function Progress({ share, label }: { readonly share: Live<number>; readonly label: string }) {
  const percent = Math.round(Math.min(1, Math.max(0, read(share))) * 100);
  return (
    <svg class="progress" height="6" role="progressbar" aria-label={label} aria-valuemin={0} aria-valuemax={100} aria-valuenow={percent}>
      <rect class="progress-track" width="100%" height="6" />
      <rect class="progress-done" width={`${percent}%`} height="6" />
    </svg>
  );
}
