/** The demonstration plant of a box that has one: whether it is there, and put there again. */
import { useEffect, useState } from 'preact/hooks';
import { get, post } from '../../data/api.js';
import { can } from '../../data/session.js';
import type { DemoStatus } from '../../data/types.js';
import { Confirm } from '../../parts/confirm.js';
import { words } from '../../common/strings.js';

const said = words({
  en: {
    title: 'Demonstration plant',
    there: (present: number, expected: number, site: string) => `${present} of ${expected} manifests are in site ${site}.`,
    make: 'Set it up',
    does: 'Sets up what is missing of the demonstration plant and makes its recipes effective. What somebody has worked on stays as it is.',
  },
  de: {
    title: 'Demonstrationsanlage',
    there: (present: number, expected: number, site: string) => `${present} von ${expected} Manifesten sind im Standort ${site}.`,
    make: 'Einrichten',
    does: 'Richtet ein, was von der Demonstrationsanlage fehlt, und macht ihre Rezepte gültig. Woran jemand gearbeitet hat, bleibt, wie es ist.',
  },
});

export function DemoPlant() {
  const [status, setStatus] = useState<DemoStatus | null>(null);
  const [isAsked, setAsked] = useState(false);
  const read = (): Promise<void> => get<DemoStatus>('/api/v1/demo/status').then(setStatus);
  useEffect(() => {
    if (can('demo:status')) read().catch(() => undefined); // a box without one says nothing of it
  }, []);
  if (!status?.enabled) return null;
  const { present, expected } = status.manifests;
  return (
    <section aria-label={said.title} data-testid="box-demo">
      <h3>{said.title}</h3>
      <p>{said.there(present, expected, status.site)}</p>
      {can('demo:provision') && (
        <p>
          <button type="button" class="button" onClick={() => setAsked(true)} data-testid="demo-provision">
            {said.make}
          </button>
        </p>
      )}
      {isAsked && (
        <Confirm
          title={said.title}
          text={said.does}
          verb={said.make}
          testid="demo-provision"
          onSend={async () => {
            await post('/api/v1/demo/provision', {});
            await read();
          }}
          onClose={() => setAsked(false)}
        />
      )}
    </section>
  );
}
