import { readHistory } from '../data/alarms.js';
import { measuredIn } from '../data/module-tags.js';
import { alarms, site, tagList } from '../data/plant.js';
import type { AlarmEvent } from '../data/types.js';
import { LogFoot } from '../common/log-foot.js';
import { t, word } from '../common/strings.js';
import { momentText, readingText, unitText } from '../common/text.js';
import { useLog } from '../common/use-log.js';
import { SeverityMark, sourceName } from './alarm.js';

/** Each transition with its time and who did it, newest first; read again when the list of alarms changes. */
/** Which alarms are looked at, in all three tabs. */
export interface AlarmFilter {
  readonly severity: string;
  readonly unit: string;
}

export function AlarmHistory({ filter }: { readonly filter: AlarmFilter }) {
  const log = useLog<AlarmEvent>((cursor) => readHistory(filter, cursor), [filter.severity, filter.unit, site.value], alarms.value);
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label={t.alarmTabs.history}>
        <table class="table" data-testid="alarm-history">
          <thead>
            <tr>
              {[t.time, t.severity, t.event, t.message, t.unit, t.value, t.who].map((head) => (
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
                  <SeverityMark severity={event.severity} past />
                </td>
                <td>{word(event.event)}</td>
                <td>{event.message || event.alarm}</td>
                <td>{event.unit.toUpperCase()}</td>
                <td class="number">{valueOf(event)}</td>
                <td>{event.displayName ?? ''}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <LogFoot log={log} />
    </>
  );
}

/** As the gateway writes a number: conditions that tell none have a word or a sentence. */
const NUMBER = /^-?\d+(\.\d+)?(e[+-]\d+)?$/;

/** A state in words, or a number with the unit of what was measured. */
function valueOf(event: AlarmEvent): string {
  if (!NUMBER.test(event.value)) return word(event.value);
  return `${readingText(Number(event.value))} ${unitText(measuredIn(sourceName(event), tagList.peek()))}`.trim();
}
