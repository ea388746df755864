/** Of a box with several sites the address says which one is shown: a link shows a colleague the same, and *back* goes back to it. */
import { effect, signal } from '@preact/signals';
import { showSite, site, sites } from '../data/plant.js';
import { carrySite, view } from '../data/view.js';

/** The site that the address asked for, where there is none of that name for this person; '' otherwise. What is shown is another one's, and stays unsaid nowhere. */
export const siteNotThere = signal('');

export function startSiteAddress(): void {
  const judge = (): void => {
    const { site: asked = '' } = view.peek().query;
    siteNotThere.value = asked === '' || sites.peek().includes(asked) ? '' : asked;
  };
  judge(); // before the address takes the name of the site that is shown
  window.addEventListener('hashchange', judge);
  effect(() => {
    if (sites.value.includes(siteNotThere.peek())) siteNotThere.value = ''; // it has been made meanwhile
  });
  effect(() => carrySite(sites.value.length > 1 ? site.value : ''));
  effect(() => {
    const { site: asked } = view.value.query;
    if (asked !== undefined && asked !== site.peek() && sites.peek().includes(asked)) void showSite(asked).catch(() => undefined);
  });
}
