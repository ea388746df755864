/** What the rows of costs are about: units of 50 tags, devices, alarms, recipes, under names that count. */
import { demoManifests, type Manifest } from './product-box.js';

export const UNITS = 12;
/** Ten transmitters of five tags each. */
const MODULES_PER_UNIT = 10;
export const TAGS_PER_UNIT = 50;
export const SITE = '/api/v1/sites/costs';
const NAMESPACE = 'site-costs';

const two = (number: number): string => String(number).padStart(2, '0');
export const unitNames = Array.from({ length: UNITS }, (_, n) => `u${two(n + 1)}`);
const modules = Array.from({ length: MODULES_PER_UNIT }, (_, n) => `m${two(n + 1)}`);

function manifest(group: string, kind: string, name: string, spec: Manifest['spec'], isOfSite = true): Manifest {
  return { apiVersion: `${group}.lineside.io/v1alpha1`, kind, metadata: { name, ...(isOfSite ? { namespace: NAMESPACE } : {}) }, spec };
}

/** What stands in each box, also in one that is measured empty. */
export const ground: readonly Manifest[] = [
  manifest('physical', 'Site', 'costs', {}, false),
  manifest('physical', 'Area', 'hall', {}),
  manifest('physical', 'ProcessCell', 'line', { areaName: 'hall' }),
  manifest('physical', 'Controller', 'edge', { simulation: true }),
  ...demoManifests().filter(({ kind, metadata }) => kind === 'ControlModuleTemplate' && metadata.name === 'analog-tx'),
];

/** Where the ten inputs of a unit come from; nowhere: they are not bound. */
export type Inputs = 'none' | 'simulation' | { readonly modbusPort: number };

/** Units of 50 tags at 100 ms, each with a device of ten inputs where they have any. */
export function units(inputs: Inputs): Manifest[] {
  return unitNames.flatMap((unit) => [
    manifest('physical', 'Unit', unit, { processCellName: 'line', controllerRef: 'edge', capabilities: ['bench'], scanInterval: '100ms' }),
    ...(inputs === 'none' ? [] : [device(unit, inputs)]),
    ...modules.map((module) =>
      manifest('physical', 'ControlModule', `${module}-${unit}`, {
        ...{ parentKind: 'Unit', parentName: unit, templateRef: 'analog-tx' },
        ...(inputs === 'none' ? {} : { tags: [{ name: 'pv', channel: `io-${unit}:${module}` }] }),
        // what the device holds is above and below: no limit is crossed all the time
        paramOverrides: inputs === 'none' ? [] : ['hh', 'h', 'l', 'll'].map((param) => ({ blockRef: 'alm', param, value: param.startsWith('h') ? 1000 : -1000 })),
      }),
    ),
  ]);
}

function device(unit: string, inputs: 'simulation' | { readonly modbusPort: number }): Manifest {
  if (inputs !== 'simulation') {
    const { modbusPort } = inputs;
    return manifest('physical', 'IOModule', `io-${unit}`, {
      ...{ protocol: 'modbus', address: `127.0.0.1:${modbusPort}`, options: { unitId: Number(unit.slice(1)), pollInterval: '100ms', timeout: '500ms' } },
      channels: modules.map((name, n) => ({ name, address: `holding:${n}`, dataType: 'float' })),
    });
  }
  return manifest('physical', 'IOModule', `io-${unit}`, {
    ...{ controllerRef: 'edge', protocol: 'simulation', options: { tick: '100ms' } },
    channels: modules.map((name) => ({ name, address: name, direction: 'input', dataType: 'float' })),
    simulation: { behaviors: modules.map((address, n) => ({ address, type: 'SineWave', params: { offset: 12, amplitude: 7, period: `${20 + n}s` } })) },
  });
}

/** High limits that nothing comes near, dealt out over all modules. */
export function alarms(count: number): Manifest[] {
  return Array.from({ length: count }, (_, n) => {
    const sourceName = `${modules[n % MODULES_PER_UNIT]}-${unitNames[Math.floor(n / MODULES_PER_UNIT) % UNITS]}`;
    const limit = { conditionType: 'TagHigh', tagName: 'pv', threshold: String(500 + n), deadband: '1', debounceSeconds: 1 };
    return manifest('control', 'AlarmDefinition', `a-${n}`, { sourceKind: 'ControlModule', sourceName, ...limit, message: `limit ${n} of ${sourceName}` });
  });
}

/** A phase that waits for so many seconds, and is complete then. */
const WAIT = manifest('recipe', 'PhaseTemplate', 'wait', {
  parameters: [{ name: 'seconds', type: 'REAL', unit: 's', min: '0', max: '100000', required: true }],
  outputs: [{ name: 'waited', type: 'REAL', unit: 's' }],
  steps: [
    { name: 'wait', initial: true },
    { name: 'done', actionST: 'waited := seconds;' },
  ],
  transitions: [{ from: 'wait', to: 'done', conditionST: 'wait.T >= T#1s * seconds' }],
});

/** A recipe of one operation with so many phases one after the other. */
function recipe(name: string, phases: number, seconds: number): Manifest {
  const steps = Array.from({ length: phases }, (_, n) => ({
    ...{ name: `p${n + 1}`, stepLevel: 'Phase', templateKind: 'PhaseTemplate', templateRef: 'wait' },
    parameterBindings: [{ name: 'seconds', value: String(seconds) }],
  }));
  return manifest('recipe', 'MasterRecipe', name, {
    ...{ productID: name.toUpperCase(), version: '1.0.0', batchSize: { nominal: '100', min: '100', max: '100', engineeringUnit: 'kg' } },
    equipmentRequirements: [{ capability: 'bench', defaultUnit: unitNames[0] }],
    formulas: [{ name: 'standard', default: true, parameters: [] }],
    procedure: {
      chart: {
        steps: [{ name: 'vessel', stepLevel: 'UnitProcedure', targetCapability: 'bench', subChart: { steps: [{ name: 'make', stepLevel: 'Operation', subChart: { steps } }] } }],
      },
    },
  });
}

/** Five phases that are over at once, and five that take an hour. */
export const quickRecipe: readonly Manifest[] = [WAIT, recipe('quick', 5, 0)];
export const longRecipe: readonly Manifest[] = [WAIT, recipe('long', 5, 3600)];

export function recipes(count: number): Manifest[] {
  return [WAIT, ...Array.from({ length: count }, (_, n) => recipe(`recipe-${n}`, 5, 10))];
}
