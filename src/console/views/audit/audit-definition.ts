/** Who did what. */
import { words } from '../../common/strings.js';
import { later } from '../../common/later.js';
import type { ViewDefinition } from '../../frame/view-definition.js';

export const auditView: ViewDefinition = {
  name: 'audit',
  action: 'audit:read',
  ofSite: true,
  title: () => words({ en: 'Audit', de: 'Protokoll' }),
  component: later(() => import('./audit-view.js').then(({ AuditView }) => AuditView)),
};
