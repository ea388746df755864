/** The alarms of now, in groups that have a reason. Only the lines in sight are drawn: two thousand are as fluent as ten. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { acknowledge, acknowledgeAll, isAcknowledging, unshelve } from '../../data/alarms.js';
import { alarms, stale } from '../../data/plant.js';
import { can } from '../../data/session.js';
import type { Alarm } from '../../data/types.js';
import { narrow } from '../../data/view.js';
import { Fault } from '../../common/fault.js';
import { faultText } from '../../common/fault-text.js';
import { t, words } from '../../common/strings.js';
import { useSend } from '../../common/use-send.js';
import { useStill } from '../../common/use-still.js';
import { isUnacknowledged } from '../../plant/alarm.js';
import { type AlarmGroup, flood } from '../../plant/alarm-groups.js';
import { AcknowledgeDialog } from './acknowledge-dialog.js';
import { AlarmDetail } from './alarm-detail.js';
import { AlarmRow } from './alarm-row.js';
import { FloodBar } from './flood-bar.js';
import { GroupHead } from './group-head.js';
import { type AlarmFinding, findAlarms, isAlarmListed, linesOf } from './listing.js';
import { ShelveDialog } from './shelve-dialog.js';

/** Of one acknowledgement of what is shown: more than a person has read. */
const PAGE_MAX = 50;
/** Drawn above and below what is in sight. */
const MARGIN_LINES = 8;

const said = words({
  en: { singly: (count: number) => `${count} Critical: singly` },
  de: { singly: (count: number) => `${count} kritische: einzeln` },
});

/** Critical alarms are acknowledged singly: whoever answers for one has looked at it. */
function acknowledgeable(found: readonly Alarm[]): Alarm[] {
  return found.filter((alarm) => isUnacknowledged(alarm) && !alarm.shelved && alarm.severity !== 'Critical' && !isAcknowledging(alarm));
}

export function ActiveAlarms({ chosen, ...finding }: AlarmFinding & { readonly chosen: string }) {
  const [shelving, setShelving] = useState<Alarm | null>(null);
  const [paging, setPaging] = useState<readonly Alarm[] | null>(null);
  const [opened, setOpened] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [refused, setRefused] = useState('');
  const sending = useSend();
  const still = useStill(alarms.value);
  const found = findAlarms(alarms.value, finding);
  // outside a flood nothing is hidden; in one the first group stands open
  const lines = linesOf(found, finding.by, ({ key }, at) => opened.get(key) ?? (flood.value === undefined || at === 0));
  const list = useLines(lines.length, still.ref);
  const back = useRef(-1);
  const alarmOf = (name: string): Alarm | undefined => alarms.value.find((each) => each.name === name);
  const firstLine = lines[0];
  const shown = alarmOf(chosen) ?? (firstLine === undefined ? undefined : 'alarm' in firstLine ? firstLine.alarm : firstLine.group.alarms[0]);
  const hidden = alarms.value.filter((alarm) => isAlarmListed(alarm, 'time')).length;
  const page = acknowledgeable(lines.flatMap((line) => ('alarm' in line ? [line.alarm] : []))).slice(0, PAGE_MAX);
  const critical = found.filter((alarm) => alarm.severity === 'Critical' && isUnacknowledged(alarm) && !alarm.shelved).length;
  useLayoutEffect(() => {
    if (back.current < 0 || (document.activeElement && document.activeElement !== document.body)) return;
    const line = Math.min(back.current, lines.length - 1);
    back.current = -1;
    still.ref.current?.querySelector<HTMLElement>(`[data-line="${line}"] .alarm-main`)?.focus();
  });
  /** Whoever works with keys goes on where he was, also where the button is gone. */
  const acting = (name: string): void => {
    back.current = lines.findIndex((line) => 'alarm' in line && line.alarm.name === name);
  };
  const send = (act: Promise<void>): void => {
    setRefused('');
    act.catch((fault: unknown) => setRefused(faultText(fault)));
  };
  const acts = {
    onAcknowledge: (alarm: Alarm, comment = ''): void => {
      acting(alarm.name);
      send(acknowledge(alarm, comment));
    },
    onShelve: setShelving,
    onUnshelve: (alarm: Alarm): void => void sending.run(() => unshelve(alarm)),
  };
  const toggle = ({ key }: AlarmGroup, isOpen: boolean): void => setOpened(new Map([...opened, [key, isOpen]]));
  return (
    <div class={chosen === '' ? 'alarm-columns' : 'alarm-columns alarm-has-chosen'}>
      <div class="alarm-list">
        <FloodBar />
        <div class="alarm-tools">
          <span class="hint" role="status" data-testid="alarm-count">
            {t.entries(found.length)}
            {critical > 0 && page.length > 0 && ` · ${said.singly(critical)}`}
          </span>
          {page.length > 1 && can('alarm:acknowledge') && (
            <button type="button" class="button" onClick={() => setPaging(page)} data-testid="acknowledge-shown">
              {t.acknowledgeShown(page.length)}
            </button>
          )}
        </div>
        <Fault text={refused || sending.fault} code={sending.code} testid="alarm-error" />
        {!can('alarm:acknowledge') && <p class="hint">{t.commandNotAllowed}</p>}
        {(stale.value || found.length === 0) && (
          <p class="empty" role="status" data-testid="alarms-none">
            {stale.value ? t.alarmsUnknown : hidden === 0 ? t.noAlarms : t.noAlarmsHere(hidden)}
          </p>
        )}
        <ul class="alarm-rows scroll" data-testid="alarm-rows" data-lines={lines.length} tabIndex={0} aria-label={t.alarms} onScroll={list.look} {...still}>
          <Space lines={list.from} />
          {lines
            .slice(list.from, list.to)
            .map((line, at) =>
              'alarm' in line ? (
                <AlarmRow
                  key={line.alarm.name}
                  alarm={line.alarm}
                  line={list.from + at}
                  place={line.place}
                  isChosen={line.alarm.name === shown?.name}
                  busy={sending.busy}
                  {...acts}
                  onChoose={({ name }) => narrow({ alarm: name })}
                />
              ) : (
                <GroupHead
                  key={`group ${line.group.key}`}
                  group={line.group}
                  line={list.from + at}
                  isOpen={line.isOpen}
                  open={acknowledgeable(line.group.alarms)}
                  onToggle={(isOpen) => toggle(line.group, isOpen)}
                  onAcknowledge={(members) => send(acknowledgeAll(members))}
                />
              ),
            )}
          <Space lines={lines.length - list.to} />
        </ul>
      </div>
      {shown && <AlarmDetail key={shown.name} alarm={shown} isChosen={chosen !== ''} {...acts} />}
      {paging && <AcknowledgeDialog found={paging} onClose={() => setPaging(null)} />}
      {shelving && <ShelveDialog key={shelving.name} alarm={shelving} onClose={() => setShelving(null)} />}
    </div>
  );
}

/** Lines that are out of sight. */
function Space({ lines }: { readonly lines: number }) {
  return lines <= 0 ? null : <li class="alarm-space" style={{ height: `calc(${lines} * var(--alarm-line))` }} aria-hidden="true" />;
}

interface Lines {
  readonly from: number;
  readonly to: number;
  readonly look: () => void;
}

/** Which lines are in sight: all are as high as `--alarm-line`. On a phone the page is what scrolls. */
function useLines(count: number, area: { readonly current: HTMLElement | null }): Lines {
  const [sight, setSight] = useState({ first: 0, count: 20 });
  const look = (): void => {
    const element = area.current;
    if (!element) return;
    const high = Number.parseFloat(getComputedStyle(element).getPropertyValue('--alarm-line'));
    const { top, bottom } = element.getBoundingClientRect();
    const above = Math.max(0, -top) + element.scrollTop;
    const next = { first: Math.floor(above / high), count: Math.ceil((Math.min(bottom, innerHeight) - Math.max(0, top)) / high) };
    setSight((known) => (known.first === next.first && known.count === next.count ? known : next));
  };
  useLayoutEffect(look, [count]);
  useEffect(() => {
    const looks = (): void => look();
    window.addEventListener('resize', looks);
    window.addEventListener('scroll', looks, true);
    return () => {
      window.removeEventListener('resize', looks);
      window.removeEventListener('scroll', looks, true);
    };
  }, []);
  const from = Math.max(0, Math.min(sight.first, count) - MARGIN_LINES);
  return { from, to: Math.min(count, Math.max(0, sight.first) + Math.max(1, sight.count) + MARGIN_LINES), look };
}
