import '../common/theme.css';
import './layout.css';
import './tiles.css';
import './batches.css';
import './pages.css';
import './unit.css';
import './batch-page.css';
import './phone.css';
import { render } from 'preact';
import { App } from './app.js';

render(<App />, document.getElementById('app') as HTMLElement);
