import '../common/theme.css';
import '../frame/layout.css';
import '../frame/pages.css';
import './desk.css';
import '../frame/phone.css';
import { t } from '../common/strings.js';
import { openConsole } from '../frame/app.js';
import { VIEWS } from './views.js';

openConsole({ path: '/data', title: () => t.dataConsole, views: VIEWS, hasBanner: false });
