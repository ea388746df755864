/** The views of the records and data console, in the order of the navigation. A further one is its folder and a line here (docs/add/console-view.md). */
import type { ViewDefinition } from '../frame/view-definition.js';
import { allSessionsView } from '../views/all-sessions/all-sessions-view.js';
import { auditView } from '../views/audit/audit-definition.js';
import { alarmLogView } from '../views/history/alarm-log-view.js';
import { backupsView } from '../views/backups/backups-view.js';
import { boxView } from '../views/box/box-view.js';
import { changesView } from '../views/changes/changes-view.js';
import { gapsView } from '../views/history/gaps-view.js';
import { historyView } from '../views/history/history-view.js';
import { integrityView } from '../views/integrity/integrity-view.js';
import { keysView } from '../views/keys/keys-view.js';
import { lockOutsView } from '../views/lock-outs/lock-outs-view.js';
import { panelsView } from '../views/panels/panels-view.js';
import { passwordView } from '../views/password/password-view.js';
import { productionView } from '../views/production/production-view.js';
import { sitesView } from '../views/sites/sites-view.js';
import { peopleView } from '../views/people/people-view.js';
import { recordView } from '../views/records/record-view.js';
import { recordsView } from '../views/records/records-view.js';
import { rolesView } from '../views/roles/roles-view.js';
import { searchView } from '../views/search/search-view.js';
import { sessionsView } from '../views/sessions/sessions-view.js';
import { signaturesView } from '../views/signatures/signatures-view.js';
import { trendsView } from '../views/trends/trends-definition.js';

export const VIEWS: readonly ViewDefinition[] = [
  recordsView,
  recordView,
  historyView,
  alarmLogView,
  gapsView,
  productionView,
  trendsView,
  auditView,
  peopleView,
  rolesView,
  allSessionsView,
  lockOutsView,
  keysView,
  panelsView,
  changesView,
  signaturesView,
  integrityView,
  backupsView,
  boxView,
  sessionsView,
  passwordView,
  searchView,
  sitesView,
];
