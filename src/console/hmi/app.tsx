/** The operator's screen: everything at one glance, nothing that moves by itself but values. */
import { useEffect, useState } from 'preact/hooks';
import { startBatch } from '../data/batch.js';
import { startHistory } from '../data/history.js';
import { ready, readFault, silent, stale, startPlant } from '../data/plant.js';
import { config, startSession } from '../data/session.js';
import { view } from '../data/view.js';
import { Fault, ReadFault } from '../common/fault.js';
import { faultText } from '../common/fault-text.js';
import { InClear } from '../common/in-clear.js';
import { t } from '../common/strings.js';
import { AlarmBanner } from './alarm-banner.js';
import { Header } from './header.js';
import { SignInQuestion } from './sign-in-question.js';
import { current } from './views.js';

const RETRY_MS = 3000;

export function App() {
  const [fault, setFault] = useState('');
  const start = async (): Promise<void> => {
    try {
      if (!(await startSession())) return;
      await startPlant();
      startBatch();
      startHistory();
      setFault('');
    } catch (refused) {
      setFault(faultText(refused));
      window.setTimeout(() => void start(), RETRY_MS); // no reload: without the box it would leave the browser's own error page
    }
  };
  useEffect(() => void start(), []);
  if (!ready.value) return <Waiting fault={fault} />;
  return <Screen />;
}

/** Of a box that is not the plant's: what it shows moves, and nothing of it reaches the devices (D-C-06). */
function Outputs() {
  if (silent.value.length === 0) return null;
  const withheld = silent.value.filter(({ outputs }) => outputs?.state === 'withheld');
  const disabled = silent.value.filter(({ outputs }) => outputs?.state === 'disabled');
  const reasons = [...new Set(withheld.map(({ outputs }) => outputs?.reason ?? ''))];
  const parts = [
    ...(withheld.length === 0 ? [] : [t.outputsWithheld(withheld.map(({ name }) => name).join(', '), reasons.join('; '))]),
    ...(disabled.length === 0 ? [] : [t.outputsDisabled(disabled.map(({ name }) => name).join(', '))]),
  ];
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
  return (
    <div class={stale.value ? 'screen is-stale' : 'screen'} data-testid="hmi" data-live={String(!stale.value)}>
      <Header />
      {config.value?.authMode === 'none' && (
        <p class="warning strip" role="status" data-testid="auth-off">
          {t.authOff}
        </p>
      )}
      <InClear strip />
      <Outputs />
      {/* without live data the header says so, and nothing moves under the finger */}
      <ReadFault text={stale.value || readFault.value === undefined ? '' : faultText(readFault.value)} strip />
      <AlarmBanner />
      <main class="main" id="main">
        <h1 class="visually-hidden">{t.operatorConsole}</h1>
        <CurrentView />
      </main>
      <SignInQuestion />
    </div>
  );
}

function CurrentView() {
  const { id } = view.value;
  const { title, component: Shown } = current.value;
  // the history of the browser and a reader of the screen tell the views apart by it
  const text = `${title(id)} – ${t.product}`;
  useEffect(() => {
    document.title = text;
  }, [text]);
  return <Shown id={id} />;
}
