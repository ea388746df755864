import '../common/theme.css';
import '../frame/layout.css';
import '../frame/pages.css';
import './desk.css';
import '../frame/phone.css?data'; // a copy of its own: what both consoles share is loaded before their views, and this has the last word
import { t } from '../common/strings.js';
import { openConsole } from '../frame/app.js';
import { VIEWS } from './views.js';

openConsole({ path: '/data', title: () => t.dataConsole, views: VIEWS, hasBanner: false });
