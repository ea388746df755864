/** What an alarm means and what to do (ISA-18.2, alarm response), what helped before, and the minutes around it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { isAcknowledging, lastTimes, removeAlarm } from '../../data/alarms.js';
import { alarms, stale, tagValue, watchTags } from '../../data/plant.js';
import { can } from '../../data/session.js';
import type { Alarm, AlarmEvent, TagDescriptor } from '../../data/types.js';
import { addressOf, narrow } from '../../data/view.js';
import { nowMs } from '../../common/clock.js';
import { faultText } from '../../common/fault-text.js';
import { t, word, words } from '../../common/strings.js';
import { ageText, measuredText, momentText, unitText } from '../../common/text.js';
import { definitionOf, isUnacknowledged, sourceName, tagOf } from '../../plant/alarm.js';
import { reasonWords } from '../../plant/alarm-groups.js';
import { Trend } from '../../plant/trend.js';
import { SeverityShape } from '../../parts/badge.js';
import { Confirm } from '../../parts/confirm.js';
import { limitText, valueThen } from './alarm-text.js';
import type { RowActs } from './alarm-row.js';
import { DefinitionDialog } from './definition-dialog.js';

const said = words({
  en: {
    since: (moment: string, age: string) => `since ${moment} (${age})`,
    now: 'Now',
    then: 'When it came',
    of: 'Came of',
    cause: 'Cause',
    consequence: 'Consequence',
    action: 'Action',
    none: 'No response is written for this alarm. It belongs into its definition.',
    lastTimes: 'Last times',
    noTimes: 'Nobody has noted yet what helped.',
    done: 'What you do (stands in the history)',
    trend: 'Trend',
    definition: 'Definition',
    open: (unit: string) => `Open ${unit}`,
    back: 'Back to the list',
    remove: 'Remove',
    removes: 'Its definition is no more, so nothing ends it by itself. It goes from the list; the history and the audit trail keep that it was there.',
    commands: (action: string) => `It commands ${action}.`,
  },
  de: {
    since: (moment: string, age: string) => `seit ${moment} (${age})`,
    now: 'Jetzt',
    then: 'Als er kam',
    of: 'Kam von',
    cause: 'Ursache',
    consequence: 'Folge',
    action: 'Maßnahme',
    none: 'Für diesen Alarm ist keine Maßnahme hinterlegt. Sie gehört in seine Definition.',
    lastTimes: 'Frühere Male',
    noTimes: 'Noch hat niemand notiert, was geholfen hat.',
    done: 'Was Sie tun (steht im Verlauf)',
    trend: 'Kurve',
    definition: 'Definition',
    open: (unit: string) => `${unit} öffnen`,
    back: 'Zurück zur Liste',
    remove: 'Entfernen',
    removes: 'Seine Definition gibt es nicht mehr, von selbst endet er nicht. Er geht aus der Liste; Verlauf und Audit-Trail behalten, dass er da war.',
    commands: (action: string) => `Er kommandiert ${action}.`,
  },
});

const MINUTE_MS = 60_000;
const BEFORE_MS = 4 * MINUTE_MS;
const AFTER_MS = 6 * MINUTE_MS;
const TIMES_MAX = 4;

interface DetailProps extends Pick<RowActs, 'onShelve'> {
  readonly alarm: Alarm;
  /** Somebody has touched it; on a phone it stands above the list then. */
  readonly isChosen: boolean;
  readonly onAcknowledge: (alarm: Alarm, comment: string) => void;
}

export function AlarmDetail({ alarm, isChosen, onAcknowledge, onShelve }: DetailProps) {
  const [comment, setComment] = useState('');
  const [isDefining, setDefining] = useState(false);
  const [isRemoving, setRemoving] = useState(false);
  const definition = definitionOf(alarm);
  const tag = tagOf(alarm);
  const root = alarms.value.find(({ name }) => name === alarm.cause?.alarm);
  const { cause = '', consequence = '', action = [] } = definition ?? {};
  const isSilent = cause === '' && consequence === '' && action.length === 0;
  const canAcknowledge = isUnacknowledged(alarm) && !isAcknowledging(alarm) && can('alarm:acknowledge');
  const acted = definition?.exceptionAction ?? '';
  const isOrphan = definition === undefined && alarm.definitionRef !== '' && !isUnacknowledged(alarm);
  return (
    <aside class="alarm-detail" aria-label={alarm.message || alarm.name} data-testid="alarm-detail" data-alarm={alarm.name}>
      <div class="alarm-detail-scroll scroll" tabIndex={0} role="group" aria-label={alarm.message || alarm.name}>
        <header class="alarm-detail-head">
          <SeverityShape severity={alarm.severity} />
          <div>
            <h3>{alarm.message || alarm.name}</h3>
            <p class="hint">
              {[
                ...new Set([alarm.unit.toUpperCase(), sourceName(alarm).toUpperCase()]),
                word(alarm.severity),
                said.since(momentText(alarm.activatedAt), ageText(Date.parse(alarm.activatedAt), nowMs.value)),
              ]
                .filter((part) => part !== '')
                .join(', ')}
            </p>
          </div>
        </header>
        <dl class="facts alarm-facts">
          {tag && <Present unit={tag.unit} tag={tag} limit={Number(alarm.setpoint)} />}
          <Fact term={said.then}>{[valueThen(alarm), limitText(alarm)].filter((part) => part !== '').join(', ') || '–'}</Fact>
          {alarm.cause && (
            <Fact term={said.of}>
              {root ? `${sourceName(root).toUpperCase()} ${root.message || root.name}` : alarm.cause.alarm} ({reasonWords[alarm.cause.by]})
            </Fact>
          )}
        </dl>
        {isSilent && <p class="hint">{said.none}</p>}
        {cause !== '' && <Told title={said.cause} text={cause} />}
        {(consequence !== '' || acted !== '') && <Told title={said.consequence} text={consequence} more={acted === '' ? '' : said.commands(word(acted))} />}
        {action.length > 0 && (
          <section data-testid="alarm-action">
            <h4>{said.action}</h4>
            <ol class="alarm-steps">
              {action.map((step) => (
                <li key={step}>{step}</li>
              ))}
            </ol>
          </section>
        )}
        <LastTimes definition={alarm.definitionRef} news={alarm.state} />
        {tag && tag.dataType !== 'String' && <Around alarm={alarm} tag={tag} />}
      </div>
      {canAcknowledge && (
        <div class="field">
          <label for="alarm-comment">{said.done}</label>
          <input id="alarm-comment" maxLength={1024} value={comment} autocomplete="off" onInput={(event) => setComment(event.currentTarget.value)} data-testid="alarm-comment" />
        </div>
      )}
      <div class="alarm-detail-actions">
        {canAcknowledge && (
          <button type="button" class="button primary" onClick={() => onAcknowledge(alarm, comment.trim())} data-testid="detail-acknowledge">
            {t.acknowledge}
          </button>
        )}
        {alarm.state === 'ActiveAcknowledged' && !alarm.shelved && (
          <button type="button" class="button" disabled={!can('alarm:shelve')} onClick={() => onShelve(alarm)} data-testid="detail-shelve">
            {t.shelve} …
          </button>
        )}
        {alarm.unit !== '' && (
          <a class="button" href={addressOf('unit', alarm.unit)}>
            {said.open(alarm.unit.toUpperCase())}
          </a>
        )}
        {tag && can('historian:tags') && (
          <a class="button" href={addressOf('trends', '', trendOf(alarm, tag))} data-testid="alarm-trend">
            {said.trend}
          </a>
        )}
        {definition && (
          <button type="button" class="button" onClick={() => setDefining(true)} data-testid="alarm-definition">
            {said.definition}
          </button>
        )}
        {isOrphan && can('alarm:delete') && (
          <button type="button" class="button" onClick={() => setRemoving(true)} data-testid="alarm-remove">
            {said.remove} …
          </button>
        )}
        {isChosen && (
          <button type="button" class="button alarm-back" onClick={() => narrow({ alarm: '' })}>
            {said.back}
          </button>
        )}
      </div>
      {isRemoving && (
        <Confirm
          title={`${said.remove}: ${alarm.message || alarm.name}`}
          text={said.removes}
          verb={said.remove}
          testid="alarm-remove"
          onSend={() => removeAlarm(alarm)}
          onClose={() => setRemoving(false)}
        />
      )}
      {isDefining && definition && <DefinitionDialog definition={definition} onClose={() => setDefining(false)} />}
    </aside>
  );
}

function Fact({ term, children }: { readonly term: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Told({ title, text, more = '' }: { readonly title: string; readonly text: string; readonly more?: string }) {
  return (
    <section>
      <h4>{title}</h4>
      <p>
        {text} {more !== '' && <strong>{more}</strong>}
      </p>
    </section>
  );
}

/** The value of now, beside that of the moment in which the alarm came. */
function Present({ unit, tag: { address, engUnits }, limit }: { readonly unit: string; readonly tag: TagDescriptor; readonly limit: number }) {
  useEffect(() => watchTags(unit, [address.replace(/[*?[\]]/g, '?')]), [unit, address]);
  const { value, quality } = tagValue(unit, address).value;
  const text = typeof value === 'number' ? `${measuredText(value, limit)} ${unitText(engUnits)}` : value === null ? '–' : word(String(value));
  return (
    <Fact term={said.now}>
      <span class={stale.value ? 'is-old' : ''} data-testid="alarm-now">
        {text} {quality !== 'Good' && quality !== '' && (t.qualities[quality] ?? quality)}
      </span>
    </Fact>
  );
}

function LastTimes({ definition, news }: { readonly definition: string; readonly news: string }) {
  const [found, setFound] = useState<readonly AlarmEvent[] | null>(null);
  const [fault, setFault] = useState('');
  const shown = useRef('');
  useEffect(() => {
    let current = true;
    const background = shown.current === definition; // read again by itself: nobody has touched anything
    shown.current = definition;
    lastTimes(definition, { background }).then(
      (events) => current && setFound(events),
      (refused: unknown) => current && setFault(faultText(refused)),
    );
    return () => {
      current = false;
    };
  }, [definition, news]);
  if (definition === '' || (found === null && fault === '')) return null;
  return (
    <section data-testid="alarm-last">
      <h4>{said.lastTimes}</h4>
      {fault !== '' && <p class="hint">{fault}</p>}
      {found?.length === 0 && <p class="hint">{said.noTimes}</p>}
      <ul>
        {found?.slice(0, TIMES_MAX).map(({ sequence, timestamp, displayName, comment }) => (
          <li key={sequence}>
            <span class="number">{momentText(timestamp)}</span> {displayName}: {comment}
          </li>
        ))}
      </ul>
    </section>
  );
}

function spanOf({ activatedAt }: Alarm): { readonly fromMs: number; readonly toMs: number } {
  const atMs = Date.parse(activatedAt);
  return { fromMs: atMs - BEFORE_MS, toMs: atMs + AFTER_MS };
}

function trendOf(alarm: Alarm, { unit, address }: TagDescriptor): Readonly<Record<string, string>> {
  const { fromMs, toMs } = spanOf(alarm);
  return { tags: `${unit} ${address}`, from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString(), a: alarm.activatedAt };
}

function Around({ alarm, tag: { unit, address, engUnits } }: { readonly alarm: Alarm; readonly tag: TagDescriptor }) {
  const pens = useMemo(() => [{ unit, address, label: address, engUnits }], [unit, address, engUnits]);
  const span = spanOf(alarm);
  return (
    <div class="alarm-around live">
      <Trend pens={pens} windowMs={undefined} span={span} marks={[{ atMs: Date.parse(alarm.activatedAt), text: word(alarm.severity), kind: 'alarm' }]} />
    </div>
  );
}
