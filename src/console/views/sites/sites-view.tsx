/** All sites of the box at one glance: what is held, what is alarmed, what is away; each row leads to its overview. */
import { useEffect, useState } from 'preact/hooks';
import { readPlant } from '../../data/production.js';
import { everySecond } from '../../data/timers.js';
import type { PlantOverview } from '../../data/types.js';
import { addressOf } from '../../data/view.js';
import { faultText } from '../../common/fault-text.js';
import { ReadFault } from '../../common/fault.js';
import { t, words } from '../../common/strings.js';
import { clockText } from '../../common/text.js';
import { wholeLog } from '../../common/use-log.js';
import { Badge, SeverityBadge } from '../../parts/badge.js';
import { type Column, Table } from '../../parts/table.js';
import type { ViewDefinition } from '../../frame/view-definition.js';

type SiteNow = PlantOverview['sites'][number];

const text = words({
  en: {
    title: 'All sites',
    units: 'Units',
    away: (count: number) => `${count} without control`,
    batches: 'Batches',
    running: (count: number) => `${count} running`,
    held: (count: number) => `${count} held`,
    waiting: (count: number) => `${count} waiting`,
    alarms: 'Alarms',
    active: (active: number, unacknowledged: number) => `${active} active, ${unacknowledged} unacknowledged`,
    modules: 'Control modules down',
    asOf: (time: string) => `As of ${time}`,
    nothing: 'No site is set up yet.',
  },
  de: {
    title: 'Alle Standorte',
    units: 'Teilanlagen',
    away: (count: number) => `${count} ohne Steuerung`,
    batches: 'Chargen',
    running: (count: number) => `${count} laufen`,
    held: (count: number) => `${count} angehalten`,
    waiting: (count: number) => `${count} warten`,
    alarms: 'Alarme',
    active: (active: number, unacknowledged: number) => `${active} aktiv, ${unacknowledged} unquittiert`,
    modules: 'Ausgefallene Module',
    asOf: (time: string) => `Stand ${time}`,
    nothing: 'Noch ist kein Standort eingerichtet.',
  },
});

/** Opened from the name of the site in the head of each page. */
export const sitesView: ViewDefinition = { name: 'sites', title: () => text.title, component: SitesView };

const SEVERITIES = ['Critical', 'High', 'Medium', 'Low'] as const;
const READ_EVERY_S = 5;

const COLUMNS: readonly Column<SiteNow>[] = [
  { key: 'site', title: t.site, cell: ({ site }) => site },
  { key: 'units', title: text.units, cell: Units },
  { key: 'batches', title: text.batches, cell: Batches },
  { key: 'alarms', title: text.alarms, cell: Alarms },
  {
    key: 'modules',
    title: text.modules,
    cell: ({ controlModules: { down, compileError } }) => (down + compileError === 0 ? 0 : <Badge look="soft">{down + compileError}</Badge>),
    isNumber: true,
  },
];

function Units({ units }: SiteNow) {
  const away = units.filter(({ runtimeReady }) => !runtimeReady).length;
  return (
    <>
      {units.length} {away > 0 && <Badge look="critical">{text.away(away)}</Badge>}
    </>
  );
}

function Batches({ batches }: SiteNow) {
  const held = batches.filter(({ state, heldInside }) => heldInside || state === 'Held' || state === 'Holding').length;
  const waiting = batches.filter(({ state }) => state === 'Pending').length;
  return (
    <>
      {text.running(batches.length - held - waiting)} {held > 0 && <Badge look="filled">{text.held(held)}</Badge>}{' '}
      {waiting > 0 && <span class="hint">{text.waiting(waiting)}</span>}
    </>
  );
}

function Alarms({ alarms: { active, unacknowledged, bySeverity } }: SiteNow) {
  const worst = SEVERITIES.find((severity) => (bySeverity[severity] ?? 0) > 0);
  return (
    <>
      {worst && <SeverityBadge severity={worst} />} {text.active(active, unacknowledged)}
    </>
  );
}

function SitesView() {
  const [plant, setPlant] = useState<PlantOverview | null>(null);
  const [fault, setFault] = useState('');
  useEffect(() => {
    let seconds = 0;
    const read = async (): Promise<void> => {
      try {
        setPlant(await readPlant());
        setFault('');
      } catch (refused) {
        setFault(faultText(refused));
      }
    };
    void read();
    return everySecond(async () => {
      seconds += 1;
      if (!document.hidden && seconds % READ_EVERY_S === 0) await read();
    });
  }, []);
  return (
    <section class="panel page" aria-labelledby="sites-title" data-testid="sites-view">
      <header class="page-head">
        <h2 id="sites-title">{text.title}</h2>
        {plant && <span class="hint number">{text.asOf(clockText(Date.parse(plant.asOf)))}</span>}
      </header>
      <ReadFault text={fault} />
      {plant && (
        <Table
          label={text.title}
          columns={COLUMNS}
          rows={wholeLog(plant.sites)}
          keyOf={({ site }) => site}
          hrefOf={({ site }) => addressOf('overview', '', { site })}
          empty={text.nothing}
          testid="sites"
        />
      )}
    </section>
  );
}
