/** The registry of the kinds (domains/index.ts): what its order promises to apply and to exports. */
import { fileURLToPath } from 'node:url';
import t from 'tap';
import * as v from 'valibot';
import { demoManifests } from '../../src/domains/demo/demo.js';
import { KINDS } from '../../src/domains/index.js';
import type { Reference } from '../../src/platform/store/kind.js';

const DEMO = fileURLToPath(new URL('../../demo', import.meta.url));
const COMPOSITE = { name: 'b', type: 'COMPOSITE' };
const ELEMENT = { templateRef: 'template', unitRef: 'u1' };
const ENDS = [
  { kind: 'Phase', name: 'p1', unitRef: 'u1' },
  { kind: 'Phase', name: 'p2', unitRef: 'u1' },
];

/** Of kinds, and of references of kinds, that the demonstration plant has none of. */
const SAMPLES: Readonly<Record<string, object>> = {
  FunctionBlockType: { blocks: [COMPOSITE] },
  ControlModuleTemplate: { blocks: [COMPOSITE] },
  IOModule: { protocol: 'simulation', controllerRef: 'edge-1', simulation: { preset: 'tank' } },
  Unit: { processCellName: 'cell', controllerRef: 'edge-1', roleBindings: [{ role: 'valve', controlModule: 'v1' }] },
  ControlModule: { templateRef: 'valve', parentName: 'v0', parentKind: 'ControlModule', inputBindings: [{ name: 'in', source: 'v1.pv' }], tags: [{ name: 'pv', channel: 'io:1' }] },
  ControlProgram: { unitRef: 'u1', scanInterval: '100ms', blocks: [COMPOSITE], variables: [{ name: 'x', dataType: 'BOOL', direction: 'input', source: 'v1.pv' }] },
  CoordinationBlock: { batchRef: 'b1', mode: 'Signal', signal: { signalName: 's', producer: ENDS[0], consumers: [ENDS[1]] } },
  SyncBarrier: { batchRef: 'b1', participants: ENDS },
  Procedure: { templateRef: 'template' },
  UnitProcedure: ELEMENT,
  Operation: ELEMENT,
  Phase: ELEMENT,
  Batch: { batchID: 'B-1', masterRecipeRef: 'r', equipment: { react: 'u1' } },
};

interface Sample {
  readonly kind: string;
  readonly spec?: unknown;
}
const samples: readonly Sample[] = [...demoManifests(DEMO), ...Object.entries(SAMPLES).map(([kind, spec]) => ({ kind, spec }))];
const named = new Map<string, Reference[]>();
for (const { kind, spec } of samples) {
  const found = KINDS.find((each) => each.kind === kind);
  if (found?.references) named.set(kind, [...(named.get(kind) ?? []), ...found.references(v.parse(found.spec, spec), 's')]);
}

t.test('D-UNIT-02: what must be there when a kind is written comes before it in the registry, or is of its own kind', async (t) => {
  const ranks = new Map<string, number>(KINDS.map(({ kind }, rank) => [kind, rank]));
  const rankOf = (kind: string): number => ranks.get(kind) ?? KINDS.length;
  const forwards = [...named].flatMap(([kind, references]) =>
    references.filter((reference) => reference.when === 'write' && rankOf(reference.kind) > rankOf(kind)).map((reference) => `${kind} ${reference.path} names ${reference.kind}`),
  );
  t.same(forwards, []);
});

t.test('every kind that names others is among those that are looked at, and what is named is a kind', async (t) => {
  const names = new Set(KINDS.map(({ kind }) => kind));
  for (const { kind, references } of KINDS) if (references) t.ok((named.get(kind) ?? []).length > 0, `${kind} is in the demonstration or has a sample in SAMPLES above`);
  t.same(
    [...named].flatMap(([kind, references]) => references.filter((reference) => !names.has(reference.kind)).map(({ path }) => `${kind} ${path}`)),
    [],
  );
});
