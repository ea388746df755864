/** The alarm domain over the real store, ledger and routes on the demonstration plant; the unit runtime is a wire the test holds. */
import { pino } from 'pino';
import type { AlarmGate, AlarmPlan, UnitInbound, UnitOutbound } from '../../../runtime/port.js';
import { isShelved } from '../../../src/domains/alarms/counts.js';
import type { Terms } from '../../../src/platform/base/term.js';
import { AlarmRegister } from '../../../src/domains/alarms/alarm-register.js';
import type { AlarmEvent } from '../../../src/domains/alarms/alarm-event.js';
import { DefinitionReconciler } from '../../../src/domains/alarms/definition-reconciler.js';
import { ExceptionCommands } from '../../../src/domains/alarms/exception-commands.js';
import { Alarm, AlarmDefinition, type AlarmDefinitionSpec, type AlarmStatus } from '../../../src/domains/alarms/kind.js';
import { alarmPlan, isOnTag } from '../../../src/domains/alarms/plan.js';
import { AlarmReconciler } from '../../../src/domains/alarms/reconciler.js';
import { alarmRoutes } from '../../../src/domains/alarms/routes.js';
import { signalKey, SYSTEM_ALARM_WAKES, SystemAlarmReconciler } from '../../../src/domains/alarms/system-alarm-reconciler.js';
import { definitionWakes } from '../../../src/domains/alarms/wakes.js';
import { openHistorian } from '../../../src/domains/historian/sampling.js';
import type { UnitLink } from '../../../src/domains/placement/runtimes.js';
import type { History } from '../../../src/platform/history/history.js';
import { type LedgerQueries, openQueries } from '../../../src/platform/ledger/queries.js';
import { ReconcileLoop } from '../../../src/platform/reconcile/loop.js';
import { on } from '../../../src/platform/reconcile/wakes.js';
import type { Client } from '../../support/gateway.js';
import { type PlantGateway, startPlantGateway } from '../../support/plant-gateway.js';
import { at } from '../../support/at.js';
import { routeSet } from '../../../src/platform/http/route.js';

export const ALARMS = '/api/v1/sites/demo/alarms';
export const RETENTION_MS = 24 * 3_600_000;
export const SHELVE_MAX_MS = 24 * 3_600_000;

export interface AlarmBench {
  readonly plant: PlantGateway;
  readonly operator: Client;
  readonly engineer: Client;
  /** What the historian was given. */
  readonly recorded: AlarmEvent[];
  readonly commands: unknown[];
  /** Gates told to the scan of rx101, by definition. */
  readonly gates: Map<string, AlarmGate>;
  /** Definitions that the scan still has as they were: their new plan has not reached it. */
  readonly scanned: Map<string, AlarmPlan>;
  readonly link: UnitLink;
  readonly reconciler: DefinitionReconciler;
  readonly history: History;
  readonly exceptions: ExceptionCommands;
  /** What the appliance knows of itself. */
  readonly facts: {
    nonceStoreNearlyFull: boolean;
    storageLow: boolean;
    archiveFault: string | null;
    archiveDamage: string | null;
    containedFault: string | null;
    commandWaits: boolean;
  };
  settle(): Promise<void>;
  /** A message of the runtime of rx101. */
  tell(message: UnitOutbound): Promise<void>;
  /** Every reconciler looks at everything, as it does at its start. */
  look(): Promise<void>;
  edge(definition: string, edge: 'raised' | 'cleared' | 'lost' | 'evaluable', value?: number): Promise<void>;
  define(name: string, change: Partial<AlarmDefinitionSpec>): Promise<void>;
  /** `<state> of every alarm of the definition`, oldest first: `AU`, a `+` for a shelf, ` x2` for the second occurrence. */
  shown(definition: string): string;
  stop(): Promise<void>;
}

export async function startAlarmBench(): Promise<AlarmBench> {
  const opened: { queries?: LedgerQueries; history?: History; parts?: Parts } = {};
  const recorded: AlarmEvent[] = [];
  const commands: unknown[] = [];
  const facts: AlarmBench['facts'] = { nonceStoreNearlyFull: false, storageLow: false, archiveFault: null, archiveDamage: null, containedFault: null, commandWaits: false };
  const gates = new Map<string, AlarmGate>();
  const scanned = new Map<string, AlarmPlan>();
  const send = (message: UnitInbound): void => {
    if (message.type === 'alarm-gates') for (const gate of message.gates) gates.set(gate.definition, gate);
  };
  const alarmPlanOf = (name: string): AlarmPlan | undefined => {
    const definition = plant.store.get(AlarmDefinition, 'demo', name);
    return scanned.get(name) ?? (definition && isOnTag(definition.spec) ? alarmPlan(name, definition.spec, 0) : undefined);
  };
  const link = { site: 'demo', unit: 'rx101', send, tags: [{ type: 'REAL' }], tagIndex: () => 0, alarmPlan: alarmPlanOf } as unknown as UnitLink;
  const runtimes = { link: (_site: string, unit: string) => (unit === 'rx101' ? link : undefined), links: () => [link] };
  const plant = await startPlantGateway({
    more: ({ store, clock }) => {
      const register = new AlarmRegister({ store, clock, record: (event) => recorded.push(event) });
      const exceptions = new ExceptionCommands(store, {
        // the work on a unit is called as its unit
        targets: (_site, units) => units.map((name) => ({ kind: 'Batch', name })),
        give(site, { name }, action, alarm, beside) {
          if (facts.commandWaits) return 'busy';
          commands.push([site, [name], action, alarm]);
          store.apply({ puts: [beside] });
          return 'given';
        },
        giveUnrecorded: (site, { name }, action, definition) => commands.push([site, [name], action, definition]),
      });
      const reconciler = new DefinitionReconciler({
        store,
        clock,
        runtimes,
        register,
        timeScale: () => 10,
        exceptions,
        lostChanged: (site, module) => at(loops, 2).wake(site, signalKey(module)),
      });
      const log = pino({ level: process.env.LINESIDE_LOG_LEVEL ?? 'error', base: null });
      const system = new SystemAlarmReconciler({
        store,
        clock,
        register,
        facts: {
          lostTags: (site, module) => reconciler.lostTags(site, module),
          nonceStoreNearlyFull: () => facts.nonceStoreNearlyFull,
          storageLow: () => facts.storageLow,
          archiveFault: () => facts.archiveFault,
          archiveDamage: () => facts.archiveDamage,
          containedFault: () => facts.containedFault,
          trouble: () => undefined,
          troubleEnd: () => undefined,
          lookFault: () => null,
        },
      });
      const loops = [
        new ReconcileLoop(reconciler, clock, log, definitionWakes(store)),
        new ReconcileLoop(new AlarmReconciler({ store, clock, register, exceptions, resolvedRetentionMs: RETENTION_MS }), clock, log, [on(Alarm)]),
        new ReconcileLoop(system, clock, log, SYSTEM_ALARM_WAKES),
      ];
      for (const loop of loops) {
        loop.connect(store);
        loop.start();
      }
      opened.parts = { reconciler, system, exceptions, loops };
      const past: Pick<LedgerQueries, 'factPageJson' | 'timedFacts'> = {
        factPageJson: (...page) => (opened.queries as LedgerQueries).factPageJson(...page),
        timedFacts: (...query) => (opened.queries as LedgerQueries).timedFacts(...query),
      };
      const samples: Pick<History, 'series' | 'eventsJson'> = {
        series: (...query) => (opened.history as History).series(...query),
        eventsJson: (...query) => (opened.history as History).eventsJson(...query),
      };
      const isEvaluable = (site: string, name: string): boolean => reconciler.isEvaluable(site, name);
      return [
        routeSet(alarmRoutes, {
          store,
          clock,
          register,
          facts: past,
          isEvaluable,
          shelveMaxMs: SHELVE_MAX_MS,
          reasonLengthMin: 4,
          history: samples,
          timeScale: () => 10,
          intervalMinMs: 1000,
        }),
      ];
    },
  });
  const { reconciler, system, exceptions, loops } = opened.parts as Parts;
  const queries = openQueries(plant.dataDir, () => plant.store.recorded);
  opened.queries = queries;
  const history = await openHistorian(plant.dataDir, {
    historianIntervalMinMs: 1000,
    historianFlushIntervalMs: 1000,
    historianRetentionMs: 400 * RETENTION_MS,
    historianBytesMax: 2 ** 30,
  });
  opened.history = history;
  const [engineer, operator] = [await plant.as('engineer'), await plant.as('operator')];
  await engineer.post('/api/v1/demo/provision');

  async function settle(): Promise<void> {
    do await new Promise(setImmediate);
    while (!loops.every((loop) => loop.idle));
  }
  await settle();
  reconciler.linkChanged(link, 'plan');

  return {
    plant,
    operator,
    engineer,
    recorded,
    commands,
    gates,
    scanned,
    link,
    reconciler,
    history,
    facts,
    exceptions,
    settle,
    async tell(message) {
      system.take(link, message, (site, name) => at(loops, 2).wake(site, name));
      await settle();
    },
    async look() {
      for (const loop of loops) loop.wakeAll();
      await settle();
    },
    async edge(definition, edge, value = 1) {
      reconciler.take(link, { type: 'alarm-edge', definition, edge, value, atMs: plant.clock.wallMs() } satisfies UnitOutbound);
      await settle();
    },
    async define(name, change) {
      const known = plant.store.get(AlarmDefinition, 'demo', name);
      const spec = { ...(known?.spec ?? SPEC), ...change };
      await plant.store.write({ puts: [{ kind: AlarmDefinition, site: 'demo', name, spec }] });
      await settle();
    },
    shown: (definition) =>
      plant.store
        .list(Alarm, 'demo')
        .filter(({ spec }) => spec.definitionRef === definition)
        .map(({ status }) => shownStatus(status, plant.store.terms))
        .join(' '),
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
      await queries.close();
      await history.close();
      await plant.stop();
    },
  };
}

interface Parts {
  readonly reconciler: DefinitionReconciler;
  readonly system: SystemAlarmReconciler;
  readonly exceptions: ExceptionCommands;
  readonly loops: readonly ReconcileLoop[];
}

/** A condition on a tag of rx101. */
export const SPEC: AlarmDefinitionSpec = {
  sourceKind: 'ControlModule',
  sourceName: 'li101',
  conditionType: 'TagHigh',
  stateValue: '',
  tagName: 'pv',
  threshold: '90',
  setpoint: '',
  deadband: '1',
  debounceSeconds: 0,
  type: 'Process',
  severity: 'High',
  message: 'too full',
  priority: 700,
  enabled: true,
  exceptionAction: '',
  armingGate: null,
};

export const SHORT = { AU: 'ActiveUnacknowledged', AA: 'ActiveAcknowledged', CU: 'ClearedUnacknowledged', CA: 'ClearedAcknowledged' } as const;

function shownStatus(status: AlarmStatus, terms: Terms): string {
  const { state, occurrences } = status;
  const [short] = Object.entries(SHORT).find(([, word]) => word === state) as [string, string];
  return `${short}${isShelved(status, terms) ? '+' : ''}${occurrences > 1 ? ` x${occurrences}` : ''}`;
}
