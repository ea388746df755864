/** A label for the equipment itself: whoever stands before it comes to its prompts by the camera of a phone. */
import { site, unitInfo } from '../../data/plant.js';
import { config } from '../../data/session.js';
import { addressOf } from '../../data/view.js';
import { Dialog } from '../../common/dialog.js';
import { printPage } from '../../common/printing.js';
import { Qr } from '../../common/qr.js';
import { t, words } from '../../common/strings.js';
import { isThisMachine } from '../../common/this-machine.js';

const said = words({
  en: {
    title: (unit: string) => `Label of ${unit}`,
    leads: (unit: string) => `Prompts of ${unit}`,
    use: 'Print it and put it on the unit. A phone that reads it opens the prompts of the unit; who answers signs in there.',
    own: 'This page was opened at the box itself, by an address that leads a phone to the phone. Open it by the name or address of the box, or set gateway.publicName.',
    print: 'Print',
  },
  de: {
    title: (unit: string) => `Etikett von ${unit}`,
    leads: (unit: string) => `Anfragen von ${unit}`,
    use: 'Drucken und an der Teilanlage anbringen. Ein Telefon, das es liest, öffnet die Anfragen der Teilanlage; wer antwortet, meldet sich dort an.',
    own: 'Diese Seite wurde an der Box selbst geöffnet, unter einer Adresse, die ein Telefon zu sich selbst führt. Öffnen Sie sie unter dem Namen oder der Adresse der Box, oder setzen Sie gateway.publicName.',
    print: 'Drucken',
  },
});

/** Where people reach the box from elsewhere; empty where this page cannot tell. */
function originOf(publicName: string | null): string {
  if (publicName !== null) return `${location.protocol}//${publicName}${location.port === '' ? '' : `:${location.port}`}`;
  return isThisMachine(location.hostname) ? '' : location.origin;
}

export function UnitLabel({ unit, onClose }: { readonly unit: string; readonly onClose: () => void }) {
  const name = unit.toUpperCase();
  const origin = originOf(config.value?.publicName ?? null);
  const address = `${origin}/hmi${addressOf('prompts', '', { site: site.value, unit }).replace(/^\/hmi/, '')}`;
  return (
    <Dialog title={said.title(name)} testid="unit-label-dialog" reads onClose={onClose}>
      {origin === '' ? (
        <p class="warning" role="status" data-testid="unit-label-own">
          {said.own}
        </p>
      ) : (
        <div class="unit-label" data-testid="unit-label-sheet" data-address={address}>
          <Qr text={address} label={said.leads(name)} />
          <p>
            <strong class="unit-label-name">{name}</strong>
            <br />
            {unitInfo.value.get(unit)?.description ?? ''}
            <br />
            <span class="hint mono">{address}</span>
          </p>
          <p class="hint no-print">{said.use}</p>
        </div>
      )}
      <div class="dialog-actions no-print">
        <button type="button" class="button" onClick={onClose}>
          {t.close}
        </button>
        {origin !== '' && (
          <button type="button" class="button primary" onClick={printPage} data-testid="unit-label-print">
            {said.print}
          </button>
        )}
      </div>
    </Dialog>
  );
}
