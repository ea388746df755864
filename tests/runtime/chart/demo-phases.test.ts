import t from 'tap';
import { assist, DEMO_VALUES, demoPlan, demoPlant, type Plant, reloaded, templateNames } from './plant.js';
import { at } from '../../support/at.js';

const SCANS_MAX = 1500;

/** Runs to a final state, helping where people would; restarts whatever is Held. */
function finish(plant: Plant, phase: string): string {
  for (let scan = 0; scan < SCANS_MAX; scan += 1) {
    const state = plant.state(phase);
    if (state === 'Complete' || state === 'Stopped' || state === 'Aborted') return state;
    if (state === 'Held') plant.command(phase, 'Restart');
    assist(plant, phase);
    plant.scan();
  }
  return `${plant.state(phase)} ${JSON.stringify(plant.view(phase).sfc.transitionStates)}`;
}

function started(template: string): Plant {
  const plant = demoPlant(template);
  plant.phases.load(demoPlan(template, DEMO_VALUES[template]));
  plant.command(template, 'Start');
  return plant;
}

t.test('SFC-01: every phase template of the demo plant runs to Complete', async (t) => {
  for (const template of templateNames()) {
    const plant = started(template);
    t.equal(plant.view(template).invalid, '', `${template} compiles`);
    t.equal(finish(plant, template), 'Complete', template);
    t.equal(plant.view(template).checkpoint.failure, undefined, `${template} has no failure`);
    t.strictSame(plant.view(template).sfc.variableSnapshot, {}, 'PHASE-04: the snapshot is cleared on completion');
  }
});

t.test('SFC-01: outputs of the demo templates are what the plant measured', async (t) => {
  const charge = started('charge');
  finish(charge, 'charge');
  t.ok(Math.abs(Number(charge.output('charge', 'charged')) - 10) <= 1.5, `charged ${charge.output('charge', 'charged')}`);
  t.match(charge.all('message')[0]?.text, /^Charged [\d.]+ kg of material$/);
  const check = started('operator-check');
  finish(check, 'operator-check');
  t.equal(check.output('operator-check', 'ph'), '9.5');
  t.strictSame(check.view('operator-check').sfc.firedTransitions, ['measure->deviation#1', 'deviation->done#2']);
});

t.test('CMD-02: Hold and Restart at every scan of charge and cip lead to the same end', async (t) => {
  for (const [template, output] of [
    ['charge', 'charged'],
    ['cip', 'rinsed'],
  ] as const) {
    const plain = started(template);
    let scans = 0;
    while (plain.state(template) !== 'Complete' && scans < SCANS_MAX) {
      plain.scan();
      scans += 1;
    }
    for (let at = 1; at < scans; at += 1) {
      const plant = started(template);
      plant.scan(at);
      plant.command(template, 'Hold');
      plant.until(template, ['Held', 'Complete']);
      plant.scan(7);
      const end = finish(plant, template);
      if (end !== 'Complete') t.equal(end, 'Complete', `${template} held at scan ${at}`);
      const wanted = Number(plain.output(template, output));
      const got = Number(plant.output(template, output));
      if (Math.abs(got - wanted) > 1.5) t.equal(got, wanted, `${template} ${output} held at scan ${at}`);
    }
    t.ok(scans > 20, `${template} took ${scans} scans`);
  }
});

t.test('SFC-01: a phase goes on from every checkpoint it has reported', async (t) => {
  for (const template of templateNames()) {
    const plain = started(template);
    finish(plain, template);
    const count = plain.reports(template).length;
    let tried = 0;
    for (let index = 1; index < count; index += 1) {
      const plant = started(template);
      while (plant.reports(template).length <= index) {
        assist(plant, template);
        plant.scan();
      }
      const report = at(plant.reports(template), index);
      tried += 1;
      plant.restart();
      plant.phases.load(demoPlan(template, DEMO_VALUES[template], { checkpoint: reloaded(report.checkpoint) }));
      if (report.state === 'Running' && plant.state(template) !== 'Holding') t.equal(plant.state(template), 'Holding', `${template} report ${index}`);
      if (report.prompt && plant.view(template).prompt?.id !== report.prompt.id) t.equal(plant.view(template).prompt?.id, report.prompt.id, 'the prompt keeps its id');
      const end = finish(plant, template);
      if (end !== 'Complete') t.equal(end, 'Complete', `${template} report ${index} in ${report.state}`);
      if (plant.view(template).checkpoint.runCount !== 1) t.equal(plant.view(template).checkpoint.runCount, 1);
    }
    t.ok(tried > 3, `${template}: ${tried} checkpoints`);
  }
});
