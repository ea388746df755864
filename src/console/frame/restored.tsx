/** A box that was restored (D-C-06): that its outputs are withheld, who ends that and how; and the signature of whoever may. */
import { useState } from 'preact/hooks';
import { silent } from '../data/plant.js';
import { confirmRestore, readRestore, restore, type Restored } from '../data/restored.js';
import { can, config } from '../data/session.js';
import { words } from '../common/strings.js';
import { momentText } from '../common/text.js';
import { SignDialog } from '../plant/sign-dialog.js';

const text = words({
  en: {
    was: (at: string, made: string, device: string) => `This box was restored at ${at} from the backup that box ${device} made at ${made}.`,
    unknown: 'This box was restored from a backup; of which one is not known.',
    withheld: (modules: string) => `Its outputs are withheld${modules === '' ? '' : ` (${modules})`}: inputs are read, and nothing is written to a real device.`,
    who: 'A supervisor or administrator confirms that the other box is off: sign in here, or on the box with lineside restored confirm.',
    confirm: 'Confirm …',
    title: 'the other box is off',
    brings: 'You sign that the box this one was restored from is off and stays off. From then on this box writes its outputs. Two boxes that write to one device damage the plant.',
    reasons: ['The other box is switched off', 'The other box is removed'],
    unverified: 'Not verified at the restore:',
  },
  de: {
    was: (at: string, made: string, device: string) => `Diese Box wurde am ${at} wiederhergestellt, aus der Sicherung der Box ${device} vom ${made}.`,
    unknown: 'Diese Box wurde aus einer Sicherung wiederhergestellt; aus welcher, ist nicht bekannt.',
    withheld: (modules: string) => `Ihre Ausgänge sind zurückgehalten${modules === '' ? '' : ` (${modules})`}: Eingänge werden gelesen, an kein wirkliches Gerät wird geschrieben.`,
    who: 'Supervisor oder Administrator bestätigen, dass die andere Box aus ist: hier anmelden, oder an der Box mit lineside restored confirm.',
    confirm: 'Bestätigen …',
    title: 'die andere Box ist aus',
    brings:
      'Sie unterschreiben, dass die Box, aus deren Sicherung diese stammt, aus ist und bleibt. Von da an schreibt diese Box ihre Ausgänge. Zwei Boxen, die an ein Gerät schreiben, schaden der Anlage.',
    reasons: ['Die andere Box ist abgeschaltet', 'Die andere Box ist ausgebaut'],
    unverified: 'Bei der Wiederherstellung nicht geprüft:',
  },
});

function wasOf(restored: Restored | null): string {
  if (!restored) return text.unknown;
  const { restoredAt, backup } = restored;
  return text.was(momentText(restoredAt), momentText(backup.createdAt), backup.deviceId.slice(0, 8));
}

export function RestoredStrip() {
  const [confirms, setConfirms] = useState(false);
  const { waits, restored } = restore.value;
  // the dialog says that it is signed after the box has gone on
  if (!waits && !confirms) return null;
  const modules = silent.value.filter(({ outputs }) => outputs?.state === 'withheld').map(({ name }) => name);
  const close = (): void => {
    setConfirms(false);
    void readRestore();
  };
  const mayConfirm = can('system:confirm-restore');
  return (
    <div class="warning strip restored" role="status" data-testid="restored">
      <p>
        {wasOf(restored)} {text.withheld(modules.join(', '))} {!mayConfirm && text.who}
      </p>
      {mayConfirm && (
        <button type="button" class="button" onClick={() => setConfirms(true)} data-testid="restored-confirm">
          {text.confirm}
        </button>
      )}
      {confirms && (
        <SignDialog
          title={text.title}
          meanings={['restore-confirm']}
          lengthMin={config.value?.reasonMinLength ?? 1}
          suggestions={text.reasons}
          onSign={(_, reason) => confirmRestore(reason)}
          onClose={close}
        >
          <p>{text.brings}</p>
          {restored && restored.unverified.length > 0 && (
            <>
              <p>{text.unverified}</p>
              <ul>
                {restored.unverified.map((each) => (
                  <li key={each}>{each}</li>
                ))}
              </ul>
            </>
          )}
        </SignDialog>
      )}
    </div>
  );
}
