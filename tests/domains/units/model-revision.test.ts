/** What tells an open page that the plant was engineered (channel `model`): once for many changes, and never for what operators do. */
import * as v from 'valibot';
import t from 'tap';
import { ControlModule, ControlModuleTemplate } from '../../../src/domains/control-modules/kind.js';
import { Site, Unit } from '../../../src/domains/plant/kind.js';
import { MODEL_TOLD_EVERY_MS, modelRevisions, publishModel } from '../../../src/domains/units/model-revision.js';
import type { Put } from '../../../src/platform/store/kind.js';
import type { ChannelEvent } from '../../../src/platform/stream/channel.js';
import { freshStore } from '../../support/fresh-store.js';

const site = (name: string): Put => ({ kind: Site as never, site: '', name, spec: v.parse(Site.spec, {}), status: {} });
const template = (moduleType: string): Put => ({
  kind: ControlModuleTemplate as never,
  site: '',
  name: 'valve',
  spec: v.parse(ControlModuleTemplate.spec, { moduleType }),
  status: {},
});
const module = (more: object): Put => {
  const spec = v.parse(ControlModule.spec, { templateRef: 'valve', parentName: 'r1', parentKind: 'Unit', ...more });
  return { kind: ControlModule as never, site: 'north', name: 'v1', spec, status: ControlModule.initialStatus(spec) };
};

t.test('a change of the plant is told once, with what else changes within a second, to the sites it concerns', async (t) => {
  const { store, clock } = await freshStore(t);
  await store.write({ puts: [site('north'), site('south')] });
  const told: (readonly [site: string, revision: unknown])[] = [];
  const forgotten: string[] = [];
  const hub = {
    publish: ({ site, frame, forget }: ChannelEvent): void => void (forget ? forgotten.push(site) : told.push([site, frame.revision])),
  };
  publishModel({ hub, store, clock });
  const revisions = modelRevisions(store);
  const began = revisions.of('north');
  t.same(
    told.splice(0),
    [
      ['north', began],
      ['south', began],
    ],
    'for the snapshot',
  );

  const unit = { kind: Unit as never, site: 'north', name: 'r1', spec: v.parse(Unit.spec, {}), status: Unit.initialStatus(v.parse(Unit.spec, {})) };
  for (const put of [unit, template('valve'), module({}), module({ description: 'Inlet' })]) await store.write({ puts: [put] });
  t.same(told, [], 'not each one');
  clock.advance(MODEL_TOLD_EVERY_MS);
  const now = revisions.of('north');
  t.same(told.splice(0).sort(), [
    ['north', now],
    ['south', revisions.of('south')],
  ]);
  t.ok(now > began && revisions.of('south') > began, 'a template is of every site');

  await store.write({ puts: [module({ description: 'Inlet', mode: 'Manual' })] });
  await store.write({ puts: [{ ...unit, spec: { ...unit.spec, mode: 'Manual' } }] });
  await store.write({ puts: [{ kind: Unit, site: 'north', name: 'r1', status: { ...unit.status, state: 'Running' } } as Put] });
  clock.advance(MODEL_TOLD_EVERY_MS);
  t.same(told, [], 'modes of a module and of a unit, and a state, are of the operators');

  await store.write({ removes: [{ kind: 'ControlModule', site: 'north', name: 'v1' }] });
  clock.advance(MODEL_TOLD_EVERY_MS);
  t.same(told.splice(0), [['north', revisions.of('north')]], 'of one site');
  t.ok(revisions.of('north') > now);

  const before = revisions.of('north');
  await store.write({ puts: [site('other')] });
  clock.advance(MODEL_TOLD_EVERY_MS);
  await store.write({ puts: [{ ...site('other'), spec: v.parse(Site.spec, { description: 'Brewery' }) } as Put] });
  clock.advance(MODEL_TOLD_EVERY_MS);
  t.same(
    told.splice(0).map(([name]) => name),
    ['other', 'other'],
    'a site is of its own name alone',
  );
  t.equal(revisions.of('north'), before, 'the lists of another are what they were');

  await store.write({ removes: [{ kind: 'Site', site: '', name: 'south' }] });
  clock.advance(MODEL_TOLD_EVERY_MS);
  t.same(told, [], 'nothing of the others has changed');
  t.same(forgotten, ['south']);
});

t.test('a frame that could not be told silences no site: the next change tells it, and what was left with it', async (t) => {
  const { store, clock } = await freshStore(t);
  await store.write({ puts: [site('north'), site('south')] });
  const told: string[] = [];
  let isBroken = false;
  const publish = ({ site: of }: ChannelEvent): void => {
    if (isBroken) throw new Error('no channel');
    told.push(of);
  };
  publishModel({ hub: { publish }, store, clock });
  t.same(told.splice(0), ['north', 'south']);

  isBroken = true;
  await store.write({ puts: [template('valve')] });
  t.throws(() => clock.advance(MODEL_TOLD_EVERY_MS), { message: 'no channel' });
  isBroken = false;
  await store.write({ puts: [module({})] });
  clock.advance(MODEL_TOLD_EVERY_MS);
  t.same(told.sort(), ['north', 'south']);
});
