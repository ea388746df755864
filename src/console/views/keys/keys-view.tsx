/** API keys, with which programs come in (contract 1, API key): made, shown this once, replaced with an overlap, revoked. The box keeps no key that could be read. */
import { useState } from 'preact/hooks';
import { post, remove } from '../../data/api.js';
import { listPage } from '../../data/listed.js';
import { sites } from '../../data/plant.js';
import { can } from '../../data/session.js';
import type { ApiKey, NewApiKey } from '../../data/types.js';
import { Field } from '../../common/field.js';
import { t, words } from '../../common/strings.js';
import { fullMomentText, instantOf } from '../../common/text.js';
import { useLog } from '../../common/use-log.js';
import { Check } from '../../parts/check.js';
import { Confirm } from '../../parts/confirm.js';
import { ShownOnce } from '../../parts/shown-once.js';
import { type Column, Table } from '../../parts/table.js';
import type { ViewDefinition } from '../../frame/view-definition.js';
import { administration } from '../administration.js';

const text = words({
  en: {
    title: 'API keys',
    name: 'Name',
    nameRule: 'Lower-case letters, digits and hyphens: what it is for.',
    starts: 'Begins with',
    created: 'Made',
    by: 'by',
    expires: 'Expires',
    never: 'never',
    used: 'Used last',
    unused: 'not yet',
    kind: 'Is for',
    test: 'trials: changes nothing',
    real: 'work',
    replaced: (until: string) => `the one before until ${until}`,
    create: 'New key',
    createText: 'Makes a key with which a program enters orders and reads at one site. Whoever has it can do so: it is shown once, in the next window, and to nobody again.',
    createVerb: 'Make key',
    expiresHint: 'Empty: it never expires.',
    testLabel: 'For trials: what would change something is judged and refused',
    rotate: 'Replace',
    rotateText: (name: string) =>
      `Makes a new key for ${name}. For a day both are accepted, so that no order is refused while the program is given the new one; then the old one ends.`,
    revoke: 'Revoke',
    revokeText: (name: string) => `The next request with ${name} is refused, whatever the program is doing. It cannot be undone: a new key is made, and given to the program.`,
    shown: 'Send it in the header Authorization, after the word ApiKey. It is not shown again: who loses it replaces it.',
    none: 'There is no API key.',
    act: 'Change',
  },
  de: {
    title: 'API-Schlüssel',
    name: 'Name',
    nameRule: 'Kleinbuchstaben, Ziffern und Bindestriche: wofür er ist.',
    starts: 'Beginnt mit',
    created: 'Angelegt',
    by: 'von',
    expires: 'Läuft ab',
    never: 'nie',
    used: 'Zuletzt benutzt',
    unused: 'noch nicht',
    kind: 'Dient',
    test: 'Versuchen: ändert nichts',
    real: 'der Arbeit',
    replaced: (until) => `der vorige bis ${until}`,
    create: 'Neuer Schlüssel',
    createText:
      'Legt einen Schlüssel an, mit dem ein Programm an einem Standort Aufträge eingibt und liest. Wer ihn hat, kann das: er wird einmal gezeigt, im nächsten Fenster, und niemandem wieder.',
    createVerb: 'Schlüssel anlegen',
    expiresHint: 'Leer: er läuft nie ab.',
    testLabel: 'Für Versuche: was etwas ändern würde, wird beurteilt und abgelehnt',
    rotate: 'Ersetzen',
    rotateText: (name) =>
      `Macht einen neuen Schlüssel für ${name}. Einen Tag lang gelten beide, damit kein Auftrag abgelehnt wird, bis das Programm den neuen hat; dann endet der alte.`,
    revoke: 'Sperren',
    revokeText: (name) =>
      `Die nächste Anfrage mit ${name} wird abgelehnt, was das Programm auch gerade tut. Das ist nicht umkehrbar: ein neuer Schlüssel wird angelegt und dem Programm gegeben.`,
    shown: 'Er wird in der Kopfzeile Authorization gesendet, hinter dem Wort ApiKey. Er wird nicht noch einmal gezeigt: wer ihn verliert, ersetzt ihn.',
    none: 'Es gibt keinen API-Schlüssel.',
    act: 'Ändern',
  },
});

export const keysView: ViewDefinition = { name: 'keys', action: 'apikey:list', section: administration, title: () => text.title, component: KeysView };

const PATH = '/api/v1/mes/apikeys';
const pathOf = ({ name }: Pick<ApiKey, 'name'>): string => `${PATH}/${encodeURIComponent(name)}`;

type Made = Pick<NewApiKey, 'name' | 'key'>;
type Wish = { readonly what: 'create' } | { readonly what: 'rotate' | 'revoke'; readonly key: ApiKey };

function usedText({ lastUsedAt, previous }: ApiKey): string {
  return [lastUsedAt === null ? text.unused : fullMomentText(lastUsedAt), previous && text.replaced(fullMomentText(previous.validUntil))].filter(Boolean).join('; ');
}

function KeysView() {
  const [wish, setWish] = useState<Wish | null>(null);
  const [made, setMade] = useState<Made | null>(null);
  const rows = useLog((cursor) => listPage<ApiKey>(PATH, {}, cursor), []);
  const columns: readonly Column<ApiKey>[] = [
    { key: 'name', title: text.name, cell: ({ name }) => name },
    { key: 'site', title: t.site, cell: ({ site }) => site },
    { key: 'starts', title: text.starts, cell: ({ keyPrefix }) => <span class="mono">{keyPrefix}</span> },
    { key: 'kind', title: text.kind, cell: ({ test }) => (test ? text.test : text.real) },
    { key: 'created', title: text.created, cell: ({ createdAt, createdBy }) => `${fullMomentText(createdAt)} ${text.by} ${createdBy}` },
    { key: 'expires', title: text.expires, cell: ({ expiresAt }) => (expiresAt === null ? text.never : fullMomentText(expiresAt)), isNumber: true },
    { key: 'used', title: text.used, cell: usedText },
    { key: 'act', title: text.act, cell: (key) => <KeyButtons apiKey={key} onWish={setWish} /> },
  ];
  const done = (shown: Made | null): void => {
    setMade(shown);
    rows.again();
  };
  return (
    <section class="panel page" aria-labelledby="keys-title" data-testid="keys-view">
      <header class="page-head">
        <h2 id="keys-title">{text.title}</h2>
        <div class="page-filters">
          {can('apikey:create') && (
            <button type="button" class="button primary" onClick={() => setWish({ what: 'create' })} data-testid="key-new">
              {text.create}
            </button>
          )}
        </div>
      </header>
      <Table label={text.title} columns={columns} rows={rows} keyOf={({ name }) => name} empty={text.none} testid="keys" />
      {wish?.what === 'create' && <NewKey onMade={done} onClose={() => setWish(null)} />}
      {wish?.what === 'rotate' && (
        <Confirm
          title={`${text.rotate}: ${wish.key.name}`}
          text={text.rotateText(wish.key.name)}
          verb={text.rotate}
          testid="key-rotate"
          onSend={async () => done(await post<NewApiKey>(`${pathOf(wish.key)}/rotate`, {}))}
          onClose={() => setWish(null)}
        />
      )}
      {wish?.what === 'revoke' && (
        <Confirm
          title={`${text.revoke}: ${wish.key.name}`}
          text={text.revokeText(wish.key.name)}
          verb={text.revoke}
          testid="key-revoke"
          onSend={async () => {
            await remove(pathOf(wish.key));
            done(null);
          }}
          onClose={() => setWish(null)}
        />
      )}
      {made && <ShownOnce title={made.name} hint={text.shown} secret={made.key} testid="key-shown" onClose={() => setMade(null)} />}
    </section>
  );
}

function KeyButtons({ apiKey, onWish }: { readonly apiKey: ApiKey; readonly onWish: (wish: Wish) => void }) {
  return (
    <>
      {(['rotate', 'revoke'] as const)
        .filter((what) => can(what === 'rotate' ? 'apikey:rotate' : 'apikey:delete'))
        .map((what) => (
          <button
            type="button"
            key={what}
            class="button"
            aria-label={`${text[what]}: ${apiKey.name}`}
            onClick={() => onWish({ what, key: apiKey })}
            data-testid={`key-${what}-${apiKey.name}`}
          >
            {text[what]}
          </button>
        ))}
    </>
  );
}

function NewKey({ onMade, onClose }: { readonly onMade: (made: Made) => void; readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [site, setSite] = useState(sites.peek()[0] ?? '');
  const [expires, setExpires] = useState('');
  const [test, setTest] = useState(false);
  const send = async (): Promise<void> => onMade(await post<NewApiKey>(PATH, { name: name.trim(), site, expiresAt: instantOf(expires) || null, test }));
  return (
    <Confirm
      title={text.create}
      text={text.createText}
      verb={text.createVerb}
      testid="key-new"
      judge={() => (name.trim() === '' || site === '' ? t.fillIn : '')}
      onSend={send}
      onClose={onClose}
    >
      <Field id="key-name" label={text.name} value={name} onInput={setName} hint={text.nameRule} autoFocus />
      <div class="field">
        <label for="key-site">{t.site}</label>
        <select id="key-site" class="select" value={site} onChange={(event) => setSite(event.currentTarget.value)}>
          {sites.value.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      </div>
      <div class="field">
        <label for="key-expires">{text.expires}</label>
        <input id="key-expires" type="datetime-local" value={expires} aria-describedby="key-expires-hint" onChange={(event) => setExpires(event.currentTarget.value)} />
        <p id="key-expires-hint" class="hint">
          {text.expiresHint}
        </p>
      </div>
      <Check id="key-test" label={text.testLabel} isOn={test} onChange={setTest} />
    </Confirm>
  );
}
