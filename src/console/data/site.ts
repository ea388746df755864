/** The site that is shown, and the addresses of what belongs to it. */
import { signal } from '@preact/signals';

export const sites = signal<readonly string[]>([]);
export const site = signal('');
/** Another site is being read: what is told meanwhile is read with it, or after it. */
export const showing = signal(false);

/** Asked by a timer, not by a person. */
export const BACKGROUND = { background: true };
/** Of the lists that are as long as the plant is large. */
export const LIST_PAGE = 500;

/** Address of a route of the site that is shown. */
export function atSite(path: string): string {
  return `/api/v1/sites/${encodeURIComponent(site.peek())}/${path}`;
}
