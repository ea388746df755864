/** The trend desk. */
import { later } from '../../common/later.js';
import type { ViewDefinition } from '../../frame/view-definition.js';
import { trendsTitle } from './trends-title.js';

export const trendsView: ViewDefinition = {
  name: 'trends',
  action: 'historian:tags',
  ofSite: true,
  title: trendsTitle,
  component: later(() => import('./trends-view.js').then(({ TrendsView }) => TrendsView)),
};
