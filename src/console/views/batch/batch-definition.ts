/** One batch. */
import { t } from '../../common/strings.js';
import { later } from '../../common/later.js';
import type { ViewDefinition } from '../../frame/view-definition.js';

export const batchView: ViewDefinition = { name: 'batch', title: (id) => `${t.batch} ${id}`, component: later(() => import('./batch-view.js').then(({ BatchView }) => BatchView)) };
