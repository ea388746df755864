/** Units of other trades than the demonstration, with what they are piped to: a brewhouse, and a skid that has no vessel at all. */
const PHYSICAL = 'physical.lineside.io/v1alpha1';
const CONTROL = 'control.lineside.io/v1alpha1';

interface FixtureEnd {
  readonly unit?: string;
  readonly utility?: string;
  readonly part?: 'body' | 'jacket';
  readonly junction?: string;
}

interface FixtureConnection {
  readonly from: FixtureEnd;
  readonly to: FixtureEnd;
  readonly via: readonly string[];
  readonly medium?: string;
}

export interface FixtureModule {
  readonly name: string;
  readonly templateRef: string;
  readonly symbolId: string;
  readonly deviceClass: string;
  readonly measuredVariable: string;
}

export interface FixtureUnit {
  readonly name: string;
  readonly symbolId: string;
  readonly description: string;
  readonly connections: readonly FixtureConnection[];
  readonly modules: readonly FixtureModule[];
}

const of =
  (templateRef: string, symbolId: string, deviceClass: string, measuredVariable = '') =>
  (name: string) => ({ name, templateRef, symbolId, deviceClass, measuredVariable });
const valve = of('on-off-valve', 'valve-on-off', 'valve');
const control = of('control-valve', 'valve-control', 'valve');
const pump = of('motor', 'pump', 'actuator');
const agitator = of('motor', 'agitator', 'actuator');
const flow = of('flow-totalizer', 'instrument-field', 'sensor', 'Flow');
const level = of('analog-tx', 'instrument-field', 'sensor', 'Level');
const temperature = of('analog-tx', 'instrument-field', 'sensor', 'Temperature');
const analysis = of('analog-tx', 'instrument-field', 'sensor', 'Analytical');
const pressure = of('analog-tx', 'instrument-field', 'sensor', 'Pressure');

const BODY = { part: 'body' } as const;
const JACKET = { part: 'jacket' } as const;

export const BREWHOUSE: readonly FixtureUnit[] = [
  {
    name: 'mt1',
    symbolId: 'tun',
    description: 'Mash tun',
    modules: [
      valve('xv311'),
      valve('xv312'),
      control('tcv310'),
      agitator('ag310'),
      pump('p310'),
      valve('xv313'),
      valve('xv314'),
      flow('fi310'),
      level('li310'),
      temperature('ti310'),
      temperature('ti311'),
    ],
    connections: [
      { from: { utility: 'Grist' }, to: BODY, via: ['xv311'], medium: 'Grist' },
      { from: { utility: 'Brewing water' }, to: BODY, via: ['xv312', 'fi310'], medium: 'Water' },
      { from: { utility: 'Steam' }, to: JACKET, via: ['tcv310'], medium: 'Steam' },
      { from: JACKET, to: { utility: 'Condensate' }, via: [] },
      { from: BODY, to: { junction: 'wort' }, via: ['p310'], medium: 'Wort' },
      { from: { junction: 'wort' }, to: { unit: 'wk1' }, via: ['xv313'], medium: 'Wort' },
      // round and round until it runs clear
      { from: { junction: 'wort' }, to: BODY, via: ['xv314'], medium: 'Wort' },
    ],
  },
  {
    name: 'wk1',
    symbolId: 'kettle',
    description: 'Wort kettle',
    modules: [valve('xv321'), valve('xv322'), control('tcv320'), pump('p320'), valve('xv323'), level('li320'), temperature('ti320'), pressure('pi320')],
    connections: [
      { from: { unit: 'mt1' }, to: BODY, via: ['xv321'], medium: 'Wort' },
      { from: { utility: 'Hops' }, to: BODY, via: ['xv322'], medium: 'Hops' },
      { from: { utility: 'Steam' }, to: JACKET, via: ['tcv320'], medium: 'Steam' },
      { from: JACKET, to: { utility: 'Condensate' }, via: [] },
      { from: BODY, to: { unit: 'wp1' }, via: ['p320', 'xv323'], medium: 'Wort' },
    ],
  },
  {
    name: 'wp1',
    symbolId: 'tank',
    description: 'Whirlpool',
    modules: [valve('xv331'), pump('p330'), valve('xv332'), valve('xv333'), level('li330')],
    connections: [
      { from: { unit: 'wk1' }, to: BODY, via: ['xv331'], medium: 'Wort' },
      { from: BODY, to: { utility: 'Wort cooler' }, via: ['p330', 'xv332'], medium: 'Wort' },
      { from: BODY, to: { utility: 'Trub' }, via: ['xv333'], medium: 'Trub' },
    ],
  },
];

/** Dilutes a concentrate in line: two pumps into one pipe, and what is not right yet goes to waste. */
export const SKID: FixtureUnit = {
  name: 'bs1',
  symbolId: 'skid',
  description: 'Buffer skid',
  modules: [pump('p401'), flow('fi401'), pump('p402'), flow('fi402'), analysis('ci401'), analysis('ai401'), pressure('pi401'), valve('xv403'), valve('xv404')],
  connections: [
    { from: { utility: 'WFI' }, to: { junction: 'mix' }, via: ['p401', 'fi401'], medium: 'Water' },
    { from: { utility: 'Concentrate' }, to: { junction: 'mix' }, via: ['p402', 'fi402'], medium: 'Concentrate' },
    { from: { junction: 'mix' }, to: { junction: 'split' }, via: ['ci401', 'ai401'], medium: 'Buffer' },
    { from: { junction: 'split' }, to: { utility: 'Buffer hold' }, via: ['xv403'], medium: 'Buffer' },
    { from: { junction: 'split' }, to: { utility: 'Waste' }, via: ['xv404'], medium: 'Buffer' },
  ],
};

/** As they are applied: the units, then what stands in them. */
export function manifestsOf(units: readonly FixtureUnit[], { processCellName, controllerRef }: { readonly processCellName: string; readonly controllerRef: string }): object[] {
  const metadata = (name: string) => ({ name, namespace: 'site-demo' });
  return units.flatMap(({ name, modules, ...spec }) => [
    { apiVersion: PHYSICAL, kind: 'Unit', metadata: metadata(name), spec: { ...spec, processCellName, controllerRef } },
    ...modules.map(({ name: module, templateRef, symbolId, measuredVariable }) => ({
      apiVersion: CONTROL,
      kind: 'ControlModule',
      metadata: metadata(module),
      spec: { parentKind: 'Unit', parentName: name, templateRef, symbolId, description: module, ...(templateRef === 'analog-tx' ? { measuredVariable } : {}) },
    })),
  ]);
}
