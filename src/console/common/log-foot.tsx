import { Damaged } from './damaged.js';
import { ReadFault } from './fault.js';
import { t } from './strings.js';
import type { Log } from './use-log.js';

/** What stands under every log: why it could not be read, the older part, and a new look. */
export function LogFoot({ log }: { readonly log: Log<unknown> }) {
  return (
    <div class="log-foot">
      <ReadFault text={log.fault} />
      <Damaged entries={log.damaged} />
      <span class="hint" role="status">
        {log.busy ? t.reading : t.entries(log.items.length)}
      </span>
      <button type="button" class="button" disabled={log.busy} onClick={log.again} data-testid="log-again">
        {t.readAgain}
      </button>
      <button type="button" class="button" disabled={log.busy || !log.hasMore} onClick={log.more} data-testid="log-more">
        {t.older}
      </button>
    </div>
  );
}
