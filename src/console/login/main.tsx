import '../common/theme.css';
import '../common/look.js';
import './login.css';
import { render } from 'preact';
import { LoginPage } from './login-page.js';

render(<LoginPage />, document.getElementById('app') as HTMLElement);
