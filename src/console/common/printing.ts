/** On paper there is no scrolling and no choosing: while the page is printed, what is drawn in parts is drawn whole. */
import { signal } from '@preact/signals';

export const printing = signal(false);

window.addEventListener('beforeprint', () => {
  printing.value = true;
});
window.addEventListener('afterprint', () => {
  printing.value = false;
});

/** The browser prints at once what is drawn: what belongs on paper is drawn first. */
export function printPage(): void {
  printing.value = true;
  setTimeout(() => window.print());
}
