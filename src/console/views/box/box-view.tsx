/** The box itself, part by part: whether it is well, in words, and what to do where it is not (`system/health`); which version it is and since when it runs. */
import { useEffect, useState } from 'preact/hooks';
import { get } from '../../data/api.js';
import { boxNowMs } from '../../data/box-clock.js';
import type { BoxVersion, Health } from '../../data/types.js';
import { addressOf } from '../../data/view.js';
import { FactList } from '../../common/fact-list.js';
import { ReadFault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { t } from '../../common/strings.js';
import { fullMomentText } from '../../common/text.js';
import type { ViewDefinition } from '../../frame/view-definition.js';
import { administration } from '../administration.js';
import { partsOf, type Part } from './box-parts.js';
import { text } from './box-words.js';
import { DemoPlant } from './demo-plant.js';
import { Recorder } from './recorder.js';

export const boxView: ViewDefinition = { name: 'box', action: 'system:health', section: administration, title: () => text.title, component: BoxView };

interface Seen {
  readonly health: Health;
  readonly version: BoxVersion;
}

function BoxView() {
  const [seen, setSeen] = useState<Seen | null>(null);
  const [fault, setFault] = useState('');
  const load = async (): Promise<void> => {
    try {
      const [health, version] = await Promise.all([get<Health>('/api/v1/system/health'), get<BoxVersion>('/api/v1/version')]);
      setSeen({ health, version });
      setFault('');
    } catch (refused) {
      setFault(faultText(refused));
    }
  };
  useEffect(() => void load(), []);
  return (
    <section class="panel page" aria-labelledby="box-title" data-testid="box-view">
      <header class="page-head">
        <h2 id="box-title">{text.title}</h2>
        <div class="page-filters">
          <button type="button" class="button" onClick={() => void load()} data-testid="box-again">
            {t.readAgain}
          </button>
          <button type="button" class="button" onClick={() => window.print()}>
            {t.print}
          </button>
        </div>
      </header>
      <ReadFault text={fault} />
      {seen && (
        <div class="scroll blocks" tabIndex={0}>
          <Whole {...seen.health} />
          <Parts parts={partsOf(seen.health, { boxMs: boxNowMs(), screenMs: Date.now() })} />
          <About {...seen} />
          <Recorder key={seen.health.status} />
          <DemoPlant />
        </div>
      )}
    </section>
  );
}

/** What the box says itself, in its own sentences: disk, clock and whatever else is the matter. */
function Whole({ status, warnings }: Health) {
  return (
    <section>
      <p class={status === 'ok' ? 'note' : 'warning'} role="status" data-testid="box-status" data-ok={String(status === 'ok')}>
        {status === 'ok' ? text.well : text.degraded}
      </p>
      {warnings.length > 0 && (
        <>
          <h3>{text.warnings}</h3>
          <ul data-testid="box-warnings">
            {warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function Parts({ parts }: { readonly parts: readonly Part[] }) {
  return (
    <table class="table" data-testid="box-parts">
      <thead>
        <tr>
          <th scope="col">{text.part}</th>
          <th scope="col">{text.state}</th>
          <th scope="col">{text.todo}</th>
        </tr>
      </thead>
      <tbody>
        {parts.map(({ name, ok, says, todo, view }) => (
          <tr key={name} data-testid={`box-${name}`} data-ok={String(ok)}>
            <td>{text.parts[name]}</td>
            <td>{ok ? says : <strong>{says}</strong>}</td>
            <td>
              {todo}{' '}
              {view && (
                <a class="button" href={addressOf(view)}>
                  {text.look}
                </a>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function About({ health: { box, tls, operatingMode, authMode }, version }: Seen) {
  const { profile, title, limits, used } = box;
  return (
    <section aria-label={text.about}>
      <h3>{text.about}</h3>
      <FactList
        rows
        facts={[
          [text.version, [version.product, version.version, version.commit.slice(0, 12)].join(' ')],
          [text.device, version.deviceId],
          [text.started, fullMomentText(version.startedAt)],
          [text.modes, `${text.signIn[authMode]}, ${operatingMode}`],
          [text.profile, `${title} (${profile})`],
          [text.parts.room, used ? text.usedOf(used.units, limits.units, used.tags, limits.tags, used.streams, limits.streams) : ''],
          [text.names, tls.names.join(', ')],
          [text.issuer, tls.issuer],
          [text.fingerprint, tls.sha256],
        ]}
      />
    </section>
  );
}
