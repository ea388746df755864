import '../common/theme.css';
import '../frame/layout.css';
import '../views/overview/tiles.css';
import '../views/overview/batches.css';
import '../views/overview/shift.css';
import '../frame/pages.css';
import '../views/unit/unit.css';
import '../views/batch/batch-page.css';
import '../views/prompts/prompts.css';
import '../views/batch/happened.css';
import '../frame/phone.css';
import { t } from '../common/strings.js';
import { openConsole } from '../frame/app.js';
import { VIEWS } from './views.js';

openConsole({ path: '/hmi', title: () => t.operatorConsole, views: VIEWS, hasBanner: true });
