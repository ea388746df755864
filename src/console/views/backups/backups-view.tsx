/** Backups of the box: what the last one came to, one now, and what a restore needs while there is still time to look for it. */
import { useEffect, useState } from 'preact/hooks';
import { get, post } from '../../data/api.js';
import { can, config } from '../../data/session.js';
import { everySecond } from '../../data/timers.js';
import type { Health } from '../../data/types.js';
import { ReadFault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { ReasonField } from '../../common/reason-field.js';
import { words } from '../../common/strings.js';
import { fullMomentText } from '../../common/text.js';
import { Confirm } from '../../parts/confirm.js';
import type { ViewDefinition } from '../../frame/view-definition.js';
import { administration } from '../administration.js';

const text = words({
  en: {
    title: 'Backups',
    off: 'The box makes no backups by itself. Set backup.directory, a folder on another disk or machine, and backup.recipient, the public key they are encrypted for; until then only lineside backup makes one.',
    never: 'There is no backup yet.',
    good: (at: string) => `The last backup of ${at} is whole.`,
    bad: (at: string) => `The backup of ${at} has failed or is not whole.`,
    running: 'A backup is being made. The plant runs on.',
    make: 'Make a backup now',
    makeText: 'Makes one encrypted file with everything the box holds, into the folder of the settings. The plant runs on; with the next one the oldest goes.',
    reasons: ['Before a change', 'Before an update', 'Trial'],
    restore: 'What a restore needs',
    needs: [
      'The other box is off and stays off: two boxes that write to one device damage the plant.',
      'A backup file, from the folder of the settings or from wherever it was copied to.',
      'The identity (private key) of the recipient. Without it nobody opens a backup: keep it in two places, away from the box.',
      'The file of keys, made once with lineside backup --keys-to: without it signatures and seals of before cannot all be verified, and secrets of devices are set again.',
      'An empty data directory, and the service stopped. Then lineside restore verifies everything before it is put in place.',
      'Afterwards a signature of a supervisor or administrator: until then no output of a real device is written.',
    ],
    trial: 'A backup that was never restored is a hope: restore one now and then, on another machine.',
    more: 'Backup and restore, step by step',
  },
  de: {
    title: 'Sicherungen',
    off: 'Die Box macht von selbst keine Sicherungen. Nötig sind backup.directory, ein Ordner auf einer anderen Platte oder Maschine, und backup.recipient, der öffentliche Schlüssel, für den sie verschlüsselt werden; bis dahin macht nur lineside backup eine.',
    never: 'Es gibt noch keine Sicherung.',
    good: (at) => `Die letzte Sicherung von ${at} ist vollständig.`,
    bad: (at) => `Die Sicherung von ${at} ist gescheitert oder nicht vollständig.`,
    running: 'Eine Sicherung wird gemacht. Die Anlage läuft weiter.',
    make: 'Jetzt eine Sicherung machen',
    makeText: 'Macht eine verschlüsselte Datei mit allem, was die Box enthält, in den eingestellten Ordner. Die Anlage läuft weiter; mit der nächsten geht die älteste.',
    reasons: ['Vor einer Änderung', 'Vor einer neuen Version', 'Versuch'],
    restore: 'Was eine Wiederherstellung braucht',
    needs: [
      'Die andere Box ist aus und bleibt aus: zwei Boxen, die an ein Gerät schreiben, schaden der Anlage.',
      'Eine Sicherungsdatei, aus dem eingestellten Ordner oder von dort, wohin sie kopiert wurde.',
      'Die Identität (der private Schlüssel) des Empfängers. Ohne sie öffnet niemand eine Sicherung: an zwei Orten aufbewahren, nicht auf der Box.',
      'Die Datei der Schlüssel, einmal gemacht mit lineside backup --keys-to: ohne sie sind frühere Signaturen und Siegel nicht alle prüfbar, und Geheimnisse der Geräte werden neu gesetzt.',
      'Ein leeres Datenverzeichnis, und der Dienst steht. Dann prüft lineside restore alles, bevor es an seinen Platz kommt.',
      'Danach die Signatur eines Betriebsleiters oder Administrators: bis dahin wird kein Ausgang eines wirklichen Geräts geschrieben.',
    ],
    trial: 'Eine Sicherung, die nie zurückgespielt wurde, ist eine Hoffnung: stellen Sie ab und zu eine wieder her, auf einer anderen Maschine.',
    more: 'Sicherung und Wiederherstellung, Schritt für Schritt',
  },
});

export const backupsView: ViewDefinition = { name: 'backups', action: 'system:run-service', section: administration, title: () => text.title, component: BackupsView };

function BackupsView() {
  const [backup, setBackup] = useState<Health['backup'] | null>(null);
  const [fault, setFault] = useState('');
  const [makes, setMakes] = useState(false);
  const load = async (background = false): Promise<void> => {
    try {
      setBackup((await get<Health>('/api/v1/system/health', { background })).backup);
      setFault('');
    } catch (refused) {
      setFault(faultText(refused));
    }
  };
  useEffect(() => void load(), []);
  useEffect(() => (backup?.running ? everySecond(() => load(true)) : undefined), [backup?.running]);
  return (
    <section class="panel page" aria-labelledby="backups-title" data-testid="backups-view">
      <header class="page-head">
        <h2 id="backups-title">{text.title}</h2>
        {backup?.configured && can('system:run-service') && (
          <div class="page-filters">
            <button type="button" class="button primary" disabled={backup.running} onClick={() => setMakes(true)} data-testid="backup-make">
              {text.make}
            </button>
          </div>
        )}
      </header>
      <ReadFault text={fault} />
      <div class="scroll blocks" tabIndex={0}>
        {backup && <State {...backup} />}
        <section aria-labelledby="restore-title">
          <h3 id="restore-title">{text.restore}</h3>
          <ol>
            {text.needs.map((need) => (
              <li key={need}>{need}</li>
            ))}
          </ol>
          <p>{text.trial}</p>
          <p>
            <a class="button" href="/docs/operations/backup.html" target="_blank" rel="noopener">
              {text.more}
            </a>
          </p>
        </section>
      </div>
      {makes && <Make onMade={() => void load()} onClose={() => setMakes(false)} />}
    </section>
  );
}

function State({ configured, running, ok, lastAt, message }: Health['backup']) {
  if (!configured)
    return (
      <p class="warning" data-testid="backup-state">
        {text.off}
      </p>
    );
  const says = ok === null ? text.never : ok ? text.good(fullMomentText(lastAt)) : text.bad(fullMomentText(lastAt));
  return (
    <section data-testid="backup-state">
      {running && (
        <p class="note" role="status">
          {text.running}
        </p>
      )}
      <p class={ok === true ? 'note' : 'warning'}>
        {says} {message}
      </p>
    </section>
  );
}

function Make({ onMade, onClose }: { readonly onMade: () => void; readonly onClose: () => void }) {
  const [reason, setReason] = useState('');
  const send = async (): Promise<void> => {
    await post('/api/v1/system/services/backup/run', { reason: reason.trim() });
    onMade();
  };
  return (
    <Confirm title={text.make} text={text.makeText} verb={text.make} testid="backup-make" onSend={send} onClose={onClose}>
      <ReasonField value={reason} onInput={setReason} lengthMin={0} lengthMax={config.value?.reasonMaxLength ?? 1024} suggestions={text.reasons} />
    </Confirm>
  );
}
