/** The trend desk. */
import { words } from '../../common/strings.js';
import { later } from '../../common/later.js';
import type { ViewDefinition } from '../../frame/view-definition.js';

export const trendsView: ViewDefinition = {
  name: 'trends',
  action: 'historian:tags',
  ofSite: true,
  title: () => words({ en: 'Trends', de: 'Kurven' }),
  component: later(() => import('./trends-view.js').then(({ TrendsView }) => TrendsView)),
};
