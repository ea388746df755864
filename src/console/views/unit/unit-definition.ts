/** One unit. */
import { t } from '../../common/strings.js';
import { later } from '../../common/later.js';
import type { ViewDefinition } from '../../frame/view-definition.js';

export const unitView: ViewDefinition = {
  name: 'unit',
  title: (id) => `${t.unit} ${id.toUpperCase()}`,
  component: later(() => import('./unit-view.js').then(({ UnitView }) => UnitView)),
};
