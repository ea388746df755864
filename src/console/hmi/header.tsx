import { brokerConnected, showSite, site, sites, stream } from '../data/plant.js';
import { nowMs } from '../common/clock.js';
import { t } from '../common/strings.js';
import { clockText } from '../common/text.js';
import { Navigation } from './navigation.js';
import { PanelSignIn } from './sign-in-question.js';
import { UserMenu } from './user-menu.js';

export function Header() {
  return (
    <header class="header">
      <strong class="brand">{t.product}</strong>
      <SiteChoice />
      <Navigation />
      <Link />
      <time class="clock number" data-testid="clock">
        {clockText(nowMs.value)}
      </time>
      <PanelSignIn />
      <UserMenu />
    </header>
  );
}

function SiteChoice() {
  if (sites.value.length < 2) return <span class="site">{site.value}</span>;
  return (
    <select class="select site-select" aria-label={t.site} value={site.value} onChange={(event) => void showSite(event.currentTarget.value).catch(() => undefined)}>
      {sites.value.map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
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
