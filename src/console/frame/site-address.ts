/** Of a box with several sites the address says which one is shown: a link shows a colleague the same, and *back* goes back to it. */
import { effect } from '@preact/signals';
import { showSite, site, sites } from '../data/plant.js';
import { carrySite, view } from '../data/view.js';

export function startSiteAddress(): void {
  effect(() => carrySite(sites.value.length > 1 ? site.value : ''));
  effect(() => {
    const { site: asked } = view.value.query;
    if (asked !== undefined && asked !== site.peek() && sites.peek().includes(asked)) void showSite(asked).catch(() => undefined);
  });
}
