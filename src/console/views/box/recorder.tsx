/** What the historian holds, and whether it keeps up. */
import { useEffect, useState } from 'preact/hooks';
import { get } from '../../data/api.js';
import { can } from '../../data/session.js';
import type { HistorianStatus, Ingest } from '../../data/types.js';
import { addressOf } from '../../data/view.js';
import { FactList } from '../../common/fact-list.js';
import { ReadFault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { words } from '../../common/strings.js';
import { durationText, fullMomentText, readingText } from '../../common/text.js';

const said = words({
  en: {
    title: 'Recording of values',
    off: 'The historian is turned off (historian.enabled): curves begin when a page is opened.',
    since: 'From',
    until: 'To',
    samples: 'Samples',
    size: 'On the disk',
    rate: 'Written now',
    perSecond: (count: string) => `${count} in a second`,
    lag: 'Behind',
    seconds: (count: string) => `${count} s`,
    kept: 'Kept for',
    dropped: 'Lost because more came than it could take',
    history: 'Recorded values',
  },
  de: {
    title: 'Aufzeichnung von Werten',
    off: 'Der Historian ist abgeschaltet (historian.enabled): Kurven beginnen, wenn eine Seite geöffnet wird.',
    since: 'Von',
    until: 'Bis',
    samples: 'Werte',
    size: 'Auf der Platte',
    rate: 'Jetzt geschrieben',
    perSecond: (count: string) => `${count} in der Sekunde`,
    lag: 'Im Rückstand um',
    seconds: (count: string) => `${count} s`,
    kept: 'Aufbewahrt',
    dropped: 'Verloren, weil mehr kam, als er aufnehmen konnte',
    history: 'Aufgezeichnete Werte',
  },
});

const MEGABYTE = 1_000_000;

export function Recorder() {
  const [seen, setSeen] = useState<{ readonly status: HistorianStatus; readonly ingest: Ingest } | null>(null);
  const [fault, setFault] = useState('');
  const isAllowed = can('historian:status') && can('historian:ingest');
  useEffect(() => {
    if (!isAllowed) return;
    Promise.all([get<HistorianStatus>('/api/v1/historian/status'), get<Ingest>('/api/v1/historian/ingest')]).then(
      ([status, ingest]) => setSeen({ status, ingest }),
      (refused: unknown) => setFault(faultText(refused)),
    );
  }, []);
  if (!isAllowed) return null;
  return (
    <section aria-label={said.title} data-testid="box-recorder">
      <h3>{said.title}</h3>
      <ReadFault text={fault} />
      {seen && <Told {...seen} />}
    </section>
  );
}

function Told({ status, ingest }: { readonly status: HistorianStatus; readonly ingest: Ingest }) {
  if (!status.configured) return <p class="hint">{said.off}</p>;
  const { oldest, newest, samples, sizeBytes, writeRate, lagMs, retention, error } = status;
  return (
    <>
      {error !== '' && (
        <p class="warning" role="status">
          {error}
        </p>
      )}
      <FactList
        rows
        facts={[
          [said.since, fullMomentText(oldest ?? '')],
          [said.until, fullMomentText(newest ?? '')],
          [said.samples, readingText(samples)],
          [said.size, `${readingText(Math.round((sizeBytes / MEGABYTE) * 10) / 10)} MB`],
          [said.rate, said.perSecond(readingText(writeRate))],
          [said.lag, said.seconds(readingText(Math.round(lagMs / 100) / 10))],
          [said.kept, durationText(retention)],
          [said.dropped, ingest.configured ? readingText(ingest.droppedTotal) : ''],
        ]}
      />
      <p>
        <a class="button" href={addressOf('history')}>
          {said.history}
        </a>
      </p>
    </>
  );
}
