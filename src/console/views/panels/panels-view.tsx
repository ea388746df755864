/** Panels as an administrator sees them (D-C-18): enrol one by the code that it shows, see when each was last there, revoke it. */
import { useEffect, useState } from 'preact/hooks';
import { getAll, post, remove } from '../../data/api.js';
import { sites } from '../../data/plant.js';
import { Fault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { Field } from '../../common/field.js';
import { t, words } from '../../common/strings.js';
import { useSend } from '../../common/use-send.js';
import { Confirm } from '../../parts/confirm.js';
import type { ViewDefinition } from '../../frame/view-definition.js';
import { administration } from '../administration.js';

interface PanelItem {
  readonly name: string;
  readonly displayName: string;
  readonly site: string;
  readonly lastContactAt: string | null;
  readonly lastContactFrom: string;
  readonly streams: number;
}

const PATH = '/api/v1/auth/panels';
const say = () => ({
  title: words({ en: 'Panels', de: 'Panels' }),
  text: words({
    en: 'Open the login page on the screen, choose “Use this screen as a panel”, and enter the code that it shows.',
    de: 'Am Bildschirm die Anmeldeseite öffnen, „Diesen Bildschirm als Panel verwenden“ wählen und den gezeigten Code hier eingeben.',
  }),
  code: words({ en: 'Code of the panel', de: 'Code des Panels' }),
  name: words({ en: 'Name', de: 'Name' }),
  nameRule: words({ en: 'Lower-case letters, digits and hyphens.', de: 'Kleinbuchstaben, Ziffern und Bindestriche.' }),
  enrol: words({ en: 'Enrol', de: 'Einrichten' }),
  revoke: words({ en: 'Revoke', de: 'Sperren' }),
  revokeText: words({
    en: 'The panel stops watching at once. To use it again it is enrolled anew.',
    de: 'Das Panel sieht sofort nichts mehr. Zur weiteren Verwendung wird es neu eingerichtet.',
  }),
  none: words({ en: 'No panel is enrolled.', de: 'Es ist kein Panel eingerichtet.' }),
  lastContact: words({ en: 'Last contact', de: 'Letzter Kontakt' }),
  never: words({ en: 'never', de: 'nie' }),
});

export const panelsView: ViewDefinition = { name: 'panels', action: 'panel:list', section: administration, title: () => say().title, component: PanelsView };

function PanelsView() {
  const [panels, setPanels] = useState<readonly PanelItem[]>([]);
  const [fault, setFault] = useState('');
  const [leaving, setLeaving] = useState<PanelItem | null>(null);
  const read = async (): Promise<void> => {
    try {
      setPanels(await getAll<PanelItem>(`${PATH}?limit=100`));
      setFault('');
    } catch (refused) {
      setFault(faultText(refused));
    }
  };
  useEffect(() => void read(), []);
  return (
    <section class="panel page" aria-labelledby="panels-title" data-testid="panels-view">
      <header class="page-head">
        <h2 id="panels-title">{say().title}</h2>
      </header>
      <Fault text={fault} />
      <EnrolForm onEnrolled={() => void read()} />
      {panels.length === 0 ? <p class="hint">{say().none}</p> : <PanelTable panels={panels} onRevoke={setLeaving} />}
      {leaving && <RevokeDialog panel={leaving} onClose={() => setLeaving(null)} onRevoked={() => void read()} />}
    </section>
  );
}

function PanelTable({ panels, onRevoke }: { readonly panels: readonly PanelItem[]; readonly onRevoke: (panel: PanelItem) => void }) {
  return (
    <table class="table" data-testid="panels">
      <thead>
        <tr>
          <th scope="col">{say().name}</th>
          <th scope="col">{t.site}</th>
          <th scope="col">{say().lastContact}</th>
          <th scope="col">{say().revoke}</th>
        </tr>
      </thead>
      <tbody>
        {panels.map((panel) => (
          <tr key={panel.name} data-testid={`panel-${panel.name}`}>
            <td>{panel.displayName}</td>
            <td>{panel.site}</td>
            <td>{panel.lastContactAt === null ? say().never : `${new Date(panel.lastContactAt).toLocaleString()} (${panel.lastContactFrom})`}</td>
            <td>
              <button type="button" class="button" onClick={() => onRevoke(panel)} data-testid={`revoke-${panel.name}`}>
                {say().revoke}
              </button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function EnrolForm({ onEnrolled }: { readonly onEnrolled: () => void }) {
  const [code, setCode] = useState('');
  const [name, setName] = useState('');
  const [site, setSite] = useState(sites.peek()[0] ?? '');
  const sending = useSend();
  const submit = (event: Event): void => {
    event.preventDefault();
    if (code.trim() === '' || name.trim() === '' || site === '') return sending.refuse(t.fillIn);
    void sending.run(async () => {
      await post(PATH, { code: code.trim(), name: name.trim(), site });
      setCode('');
      setName('');
      onEnrolled();
    });
  };
  return (
    <form onSubmit={submit} noValidate class="page-form">
      <p class="hint">{say().text}</p>
      <Fault text={sending.fault} code={sending.code} testid="panel-fault" />
      <Field id="panel-code" label={say().code} value={code} onInput={setCode} mono />
      <Field id="panel-name" label={say().name} value={name} onInput={setName} hint={say().nameRule} />
      <div class="field">
        <label for="panel-site">{t.site}</label>
        <select id="panel-site" class="select" value={site} onChange={(event) => setSite(event.currentTarget.value)}>
          {sites.value.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      </div>
      <button type="submit" class="button primary" disabled={sending.busy} data-testid="panel-enrol">
        {sending.busy ? t.sending : say().enrol}
      </button>
    </form>
  );
}

function RevokeDialog({ panel, onClose, onRevoked }: { readonly panel: PanelItem; readonly onClose: () => void; readonly onRevoked: () => void }) {
  const revoke = async (): Promise<void> => {
    await remove(`${PATH}/${encodeURIComponent(panel.name)}`);
    onRevoked();
  };
  return <Confirm title={`${say().revoke}: ${panel.displayName}`} text={say().revokeText} verb={say().revoke} testid="revoke" onSend={revoke} onClose={onClose} />;
}
