import { alarmEventPage } from '../../data/alarms.js';
import { alarms, site } from '../../data/plant.js';
import type { AlarmEvent } from '../../data/types.js';
import { LogFoot } from '../../common/log-foot.js';
import { t, word, words } from '../../common/strings.js';
import { momentText } from '../../common/text.js';
import { useLog } from '../../common/use-log.js';
import { eventValueText } from '../../plant/alarm.js';
import { SeverityBadge } from '../../parts/badge.js';

const said = words({ en: { comment: 'Said with it' }, de: { comment: 'Dazu gesagt' } });

/** Which alarms are looked at, in all tabs. */
export interface AlarmFilter {
  readonly severity: string;
  readonly unit: string;
}

/** Each transition with its time and who did it, newest first; read again when the list of alarms changes. */
export function AlarmHistory({ filter }: { readonly filter: AlarmFilter }) {
  const log = useLog<AlarmEvent>((cursor, options) => alarmEventPage({ ...filter }, cursor, options), [filter.severity, filter.unit, site.value], alarms.value);
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label={t.alarmTabs.history}>
        <table class="table" data-testid="alarm-history">
          <thead>
            <tr>
              {[t.time, t.severity, t.event, t.message, t.unit, t.value, t.who, said.comment].map((head) => (
                <th key={head} scope="col">
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {log.items.map((event) => (
              <tr key={event.sequence} data-event={event.event} data-alarm={event.alarm}>
                <td class="number">{momentText(event.timestamp)}</td>
                <td>
                  <SeverityBadge severity={event.severity} past />
                </td>
                <td>{word(event.event)}</td>
                <td>{event.message || event.alarm}</td>
                <td>{event.unit.toUpperCase()}</td>
                <td class="number">{eventValueText(event)}</td>
                <td>{event.displayName ?? ''}</td>
                <td>{event.comment ?? ''}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <LogFoot log={log} />
    </>
  );
}
