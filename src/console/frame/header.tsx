import { brokerConnected, showSite, site, sites, stream } from '../data/plant.js';
import { nowMs } from '../common/clock.js';
import { addressOf } from '../data/view.js';
import { t, words } from '../common/strings.js';
import { clockText, zoneText } from '../common/text.js';
import { shown } from './console.js';
import { Navigation } from './navigation.js';
import { PanelSignIn } from './sign-in-question.js';
import { SearchField } from './search-field.js';
import { UserMenu } from './user-menu.js';

const said = words({ en: { all: 'All' }, de: { all: 'Alle' } });

export function Header() {
  return (
    <header class="header">
      <strong class="brand">{t.product}</strong>
      <SiteChoice />
      <Navigation />
      {shown.value.path === '/data' && <SearchField />}
      <Link />
      <time class="clock number" data-testid="clock">
        {clockText(nowMs.value)}
        <span class="hint">{zoneText(new Date(nowMs.value).toISOString())}</span>
      </time>
      <PanelSignIn />
      <UserMenu />
    </header>
  );
}

function SiteChoice() {
  const all = (
    <a class="site" href={addressOf('sites')} aria-label={`${t.site}: ${site.value}`} data-testid="nav-sites">
      {sites.value.length < 2 ? site.value : said.all}
    </a>
  );
  if (sites.value.length < 2) return all;
  return (
    <>
      <select class="select site-select" aria-label={t.site} value={site.value} onChange={(event) => void showSite(event.currentTarget.value).catch(() => undefined)}>
        {sites.value.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      {all}
    </>
  );
}

/** Old values look like live ones; this and the grey say the difference. */
function Link() {
  const liveness = stream.liveness.value;
  if (liveness === 'live' && brokerConnected.value) {
    return (
      <span class="link" role="status" data-testid="link">
        {t.live}
      </span>
    );
  }
  const since = stream.lastFrameAtMs.peek();
  const text = liveness === 'live' ? t.runtimesAway : since === 0 ? t.connecting : t.noLiveSince(clockText(since));
  return (
    <span class="link link-lost" role="status" data-testid="link">
      {text}
    </span>
  );
}
