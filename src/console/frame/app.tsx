/** The operator's screen: everything at one glance, nothing that moves by itself but values. */
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { startBatch } from '../data/batch.js';
import { startHistory } from '../data/history.js';
import { restore, startRestored } from '../data/restored.js';
import { alarms, ready, readFault, silent, site, stale, startPlant } from '../data/plant.js';
import { config, startSession } from '../data/session.js';
import { addressOf, view } from '../data/view.js';
import { Fault, ReadFault } from '../common/fault.js';
import { faultText } from '../common/fault-text.js';
import { InClear } from '../common/in-clear.js';
import { readAhead } from '../common/later.js';
import { t, words } from '../common/strings.js';
import { FORMATS } from '../common/text.js';
import { isUnacknowledged } from '../plant/alarm.js';
import { inTurn } from '../common/turns.js';
import { AlarmBanner } from './alarm-banner.js';
import { startHorn } from './alarm-sound.js';
import { Contained } from './contained.js';
import { Header } from './header.js';
import { Jumps } from './jumps.js';
import { siteNotThere, startSiteAddress } from './site-address.js';
import { InTurn } from '../parts/in-turn.js';
import { Sections } from './navigation.js';
import { RestoredStrip } from './restored.js';
import { SignInQuestion } from './sign-in-question.js';
import type { ViewDefinition } from './view-definition.js';
import { type Console, current, places, shown } from './console.js';

const RETRY_MS = 3000;

/** What goes on by itself is begun once, however often the start has failed before. */
let isStarted = false;

const said = words({
  en: {
    noSite: (name: string) => `There is no site “${name}” here, or it is none of yours.`,
    noView: (name: string) => `There is no view “${name}” here.`,
  },
  de: {
    noSite: (name: string) => `Ein Werk „${name}“ gibt es hier nicht, oder es ist keins von Ihren.`,
    noView: (name: string) => `Eine Ansicht „${name}“ gibt es hier nicht.`,
  },
});

export function openConsole(console: Console): void {
  shown.value = console;
  // a page that the browser had kept aside shows who was there then, and what was so: it begins anew
  window.addEventListener('pageshow', ({ persisted }) => {
    if (persisted) location.reload();
  });
  for (const make of FORMATS) inTurn(make);
  inTurn(() => render(<App />, document.getElementById('app') as HTMLElement));
}

function App() {
  const [fault, setFault] = useState('');
  const start = async (): Promise<void> => {
    try {
      if (!(await startSession())) return;
      const { hasBanner: isPanel } = shown.peek();
      await startPlant(view.peek().query.site ?? '', isPanel);
      setFault('');
      if (isStarted) return;
      isStarted = true;
      startSiteAddress();
      startRestored();
      if (isPanel) {
        startBatch();
        startHistory();
        startHorn();
      }
    } catch (refused) {
      setFault(faultText(refused));
      window.setTimeout(() => void start(), RETRY_MS); // no reload: without the box it would leave the browser's own error page
    }
  };
  useEffect(() => void start(), []);
  if (!ready.value) return <Waiting fault={fault} />;
  return (
    <Contained of="screen">
      <Screen />
    </Contained>
  );
}

/** Of a box that is not the plant's: what it shows moves, and nothing of it reaches the devices (D-C-06). */
function Outputs() {
  const withheld = restore.value.waits ? [] : silent.value.filter(({ outputs }) => outputs?.state === 'withheld'); // its own strip names them
  const disabled = silent.value.filter(({ outputs }) => outputs?.state === 'disabled');
  const reasons = [...new Set(withheld.map(({ outputs }) => outputs?.reason ?? ''))];
  const parts = [
    ...(withheld.length === 0 ? [] : [t.outputsWithheld(withheld.map(({ name }) => name).join(', '), reasons.join('; '))]),
    ...(disabled.length === 0 ? [] : [t.outputsDisabled(disabled.map(({ name }) => name).join(', '))]),
  ];
  if (parts.length === 0) return null;
  return (
    <p class="warning strip" role="status" data-testid="outputs-withheld">
      {parts.join(' ')}
    </p>
  );
}

function Waiting({ fault }: { readonly fault: string }) {
  return (
    <main class="waiting" data-testid="waiting">
      <h1>{t.product}</h1>
      {fault === '' ? <p role="status">{t.loading}</p> : <Fault text={fault} />}
    </main>
  );
}

function Screen() {
  useEffect(() => void inTurn(() => void readAhead()), []);
  return (
    <div class={stale.value ? 'screen is-stale' : 'screen'} data-testid="hmi" data-live={String(!stale.value)}>
      <Jumps />
      <Header />
      {config.value?.authMode === 'none' && (
        <p class="warning strip" role="status" data-testid="auth-off">
          {t.authOff}
        </p>
      )}
      <InClear strip />
      <RestoredStrip />
      <Outputs />
      {/* without live data the header says so, and nothing moves under the finger */}
      <ReadFault text={stale.value || readFault.value === undefined ? '' : faultText(readFault.value)} strip />
      {shown.value.hasBanner && (
        <InTurn>
          <AlarmBanner />
        </InTurn>
      )}
      <InTurn>
        <Sections />
      </InTurn>
      <main class="main" id="main" tabIndex={-1} data-view={current.value?.name}>
        <h1 class="visually-hidden">{shown.value.title()}</h1>
        <Contained of={`${view.value.name} ${view.value.id}`}>
          <InTurn>
            <CurrentView />
          </InTurn>
        </Contained>
      </main>
      <SignInQuestion />
    </div>
  );
}

function CurrentView() {
  const { id, name } = view.value;
  if (siteNotThere.value !== '') return <NoSuchSite />;
  if (!current.value) return name === '' ? <p class="empty">{t.nothingToSee}</p> : <NoSuchView name={name} />;
  return <OneView id={id} {...current.value} />;
}

/** Two sites may have a unit of one name: what was asked for of one is not shown of another. */
function NoSuchSite() {
  return (
    <p class="panel page empty" role="status" data-testid="no-such-site">
      {said.noSite(siteNotThere.value)} <a href={addressOf('', '', { site: site.value })}>{site.value || t.product}</a>
    </p>
  );
}

/** Of a bookmark of another release, or typed: nothing else is shown in its place unsaid. */
function NoSuchView({ name }: { readonly name: string }) {
  const { id, query } = view.value;
  const other = addressOf(name, id, query);
  useEffect(() => {
    if (!other.startsWith('#')) location.replace(other); // it is a view of the other console
  }, [other]);
  return (
    <p class="panel page empty" role="status" data-testid="no-such-view">
      {said.noView(name)} <a href="#/">{places.value[0]?.title('') ?? t.product}</a>
    </p>
  );
}

function OneView({ id, title, ofSite, component: Shown }: ViewDefinition & { readonly id: string }) {
  // the history of the browser and a reader of the screen tell the views apart by it
  return (
    <>
      <PageTitle text={`${title(id)} – ${t.product}`} />
      {ofSite && site.value === '' ? (
        <p class="panel page empty" data-testid="no-site">
          {t.noSite}
        </p>
      ) : (
        <Shown id={id} />
      )}
    </>
  );
}

/** Of a panel with the alarms that nobody has acknowledged: another page may stand before it. */
function PageTitle({ text }: { readonly text: string }) {
  const calling = shown.value.hasBanner ? alarms.value.filter((alarm) => !alarm.shelved && isUnacknowledged(alarm)).length : 0;
  const whole = calling === 0 ? text : `(${calling}) ${text}`;
  useEffect(() => {
    document.title = whole;
  }, [whole]);
  return null;
}
