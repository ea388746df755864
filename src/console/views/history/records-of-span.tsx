import { can } from '../../data/session.js';
import { addressOf } from '../../data/view.js';
import { words } from '../../common/strings.js';

const text = words({ en: 'Records of this time', de: 'Chargenprotokolle dieser Zeit' });

/** From what was recorded to the batches that ended meanwhile. */
export function RecordsOfSpan({ from, to }: { readonly from: string; readonly to: string }) {
  if ((from === '' && to === '') || !can('batchrecord:list')) return null;
  return (
    <a class="button" href={addressOf('records', '', { from, to })} data-testid="to-records">
      {text}
    </a>
  );
}
