/** The views of the operator's panel, in the order of the navigation. A further one is its folder and a line here (docs/add/console-view.md). */
import type { ViewDefinition } from '../frame/view-definition.js';
import { alarmsView } from '../views/alarms/alarms-definition.js';
import { auditView } from '../views/audit/audit-definition.js';
import { batchView } from '../views/batch/batch-definition.js';
import { overviewView } from '../views/overview/overview-view.js';
import { passwordView } from '../views/password/password-view.js';
import { promptsView } from '../views/prompts/prompts-definition.js';
import { searchView } from '../views/search/search-view.js';
import { sitesView } from '../views/sites/sites-view.js';
import { sessionsView } from '../views/sessions/sessions-view.js';
import { trendsView } from '../views/trends/trends-definition.js';
import { unitView } from '../views/unit/unit-definition.js';

export const VIEWS: readonly ViewDefinition[] = [
  overviewView,
  alarmsView,
  promptsView,
  trendsView,
  auditView,
  unitView,
  batchView,
  sessionsView,
  passwordView,
  searchView,
  sitesView,
];
