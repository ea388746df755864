/** Plant files without a box: where what is wrong stands, and exports that leave what people have written. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { isOffered } from '../../src/cli/candidates.js';
import { writeExport } from '../../src/cli/files/export-files.js';
import { readManifestFiles } from '../../src/cli/files/manifest-files.js';
import { COMMANDS } from '../../src/cli/remote/commands.js';
import { LinesideCommand } from './lineside-command.js';
import { lineDifferences } from '../../src/cli/remote/line-diff.js';
import { CommandError } from '../../src/cli/remote/outcome.js';
import { yamlText } from '../../src/platform/base/yaml.js';
import { ownFolder } from '../support/own-folder.js';
import { localContext, rowOf, silentTerminal } from './support.js';

const DEMO = path.join(process.cwd(), 'demo');

const folderWith = (files: Readonly<Record<string, string>>): string => ownFolder(t, files);

const validate = async (folder: string, options: Record<string, boolean> = {}) => {
  const { data, text, exitCode = 0 } = await rowOf('validate').run(localContext([folder], options));
  return { ...(data as { readonly errors: readonly object[]; readonly warnings: readonly object[] }), text: text.replaceAll(`${folder}/`, ''), exitCode };
};

const SITE = 'apiVersion: physical.lineside.io/v1alpha1\nkind: Site\nmetadata: {name: north}\n';
const of = (kind: string, name: string, spec: string): string =>
  `apiVersion: control.lineside.io/v1alpha1\nkind: ${kind}\nmetadata:\n  name: ${name}\n  namespace: site-north\nspec:\n${spec}`;

t.test('the shipped plant is valid, and an error is told by file, line and column', async (t) => {
  t.match(await validate(DEMO), { exitCode: 0, errors: [], text: /89 manifests in 9 files: all of them would be taken by an empty box/ });
  const folder = folderWith({
    'site.yaml': SITE,
    'hall.yaml': of('Area', 'hall', '  description: east\n  floor: 2\n'),
    'stir.yaml': of(
      'PhaseTemplate',
      'stir',
      '  steps:\n    - name: begin\n      initial: true\n      actionST: |\n        done := FALSE;\n        done := TREU;\n    - name: over\n  transitions:\n    - {from: begin, to: over, conditionST: done}\n  variables:\n    - {name: done, type: BOOL}\n',
    ),
  });
  const { text, exitCode, errors } = await validate(folder);
  t.equal(exitCode, 1);
  t.match(text, /^hall\.yaml:8:10: error: Area hall: unknown field spec\.floor.* \[unknown_field\]$/m);
  t.match(text, /^stir\.yaml:12:17: error: PhaseTemplate stir: step begin: .*TREU.* \[st_invalid\]$/m, 'a line of the text is a line of the file');
  t.equal(errors.length, 2);
});

t.test('all that is wrong with a manifest is told at once, each thing by its line and column', async (t) => {
  const folder = folderWith({
    'site.yaml': SITE,
    'alarm.yaml': of(
      'AlarmDefinition',
      'high',
      '  sourceKind: Unit\n  sourceName: mixer\n  conditionType: StateEquals\n  stateVaule: Held\n  threshold: 80\n  enabled: yes\n  priority: "3"\n',
    ),
    'plc.yaml': of(
      'IOModule',
      'plc',
      '  protocol: modbus\n  address: plc:502\n  channels:\n    - {name: a, address: "coil:x"}\n    - name: b\n      address: coil:1\n      pollInterval: 1ms\n',
    ),
  });
  const { text, exitCode } = await validate(folder);
  t.equal(exitCode, 1);
  const told = text.split('\n').slice(0, -1);
  t.same(
    told.map((line) => line.replace(/: error: .*/, '')),
    ['alarm.yaml:8:15', 'alarm.yaml:10:15', 'alarm.yaml:11:14', 'alarm.yaml:12:12', 'alarm.yaml:13:13', 'plc.yaml:10:26', 'plc.yaml:13:21'],
    text,
  );
  t.match(told[1], /unknown field spec\.stateVaule; the nearest known one is stateValue/);
  t.match(told[3], /spec\.enabled must be a boolean; "yes" is a text: write true, without quotes/);
  t.match(text, /3 manifests in 3 files: 7 errors/);
});

t.test('a field beside spec that belongs into it is told where it stands', async (t) => {
  const folder = folderWith({ 'plant.yaml': [SITE, of('Area', 'hall', '  description: x\n'), `${of('ProcessCell', 'cell', '  description: x\n')}areaName: hall\n`].join('---\n') });
  const { text, errors } = await validate(folder);
  t.equal(errors.length, 1, text);
  t.match(text, /^plant\.yaml:20:11: error: ProcessCell cell: unknown field areaName; known as spec\.areaName: indent it under spec: \[unknown_field\]$/m);
});

t.test('where there is nothing to judge, nothing passes; standard input is judged', async (t) => {
  const empty = folderWith({ 'readme.txt': 'no manifest' });
  await t.rejects(rowOf('validate').run(localContext([empty], {})), { exitCode: 2, message: /^there is no manifest in / });
  await t.rejects(rowOf('validate').run(localContext(['-'], {})), { exitCode: 2, message: /^there is no manifest in -/ });
  const terminal = { ...silentTerminal(), read: async () => `${SITE}---\n${of('Area', 'hall', '  floor: 2\n')}` };
  t.match(await rowOf('validate').run(localContext(['-'], {}, terminal)), { exitCode: 1, text: /^-:11:10: error: Area hall: unknown field/ });
});

t.test('what names a manifest that is refused is not told beside it', async (t) => {
  const folder = folderWith({
    'plant.yaml': [SITE, of('Area', 'hall', '  floor: 2\n'), of('ProcessCell', 'cell', '  areaName: hall\n'), of('Unit', 'mixer', '  processCellName: cell\n')].join('---\n'),
  });
  t.match(await validate(folder), { errors: { length: 1 }, text: /plant\.yaml:11:10: error: Area hall: unknown field/ });
});

t.test('what stands in a site that is refused is not told beside it', async (t) => {
  const folder = folderWith({ 'plant.yaml': [`${SITE}spec: {floor: 2}\n`, of('Area', 'hall', '  description: x\n'), of('Area', 'yard', '  colour: red\n')].join('---\n') });
  const { errors, text } = await validate(folder);
  t.match(errors, { length: 2 }, text);
  t.match(text, /plant\.yaml:4:15: error: Site north: unknown field/);
  t.match(text, /Area yard: unknown field/, 'but what is wrong with it itself');
});

t.test('of a whole plant a recipe is told what its units do not bind, and roleBindings what they name in vain', async (t) => {
  const folder = ownFolder(
    t,
    Object.fromEntries(readdirSync(DEMO).map((file) => [file, readFileSync(path.join(DEMO, file), 'utf8').replace('"controlModule": "xv103"', '"controlModule": "xv999"')])),
  );
  const { exitCode, text } = await validate(folder);
  t.equal(exitCode, 0, 'a plant is engineered in any order');
  t.match(text, /^50-units\.json:\d+:\d+: warning: spec\.roleBindings\[\d+\]: role waterInlet of unit rx101 is bound to control module xv999, which does not exist/m);
  t.match(
    text,
    /^80-recipes\.json:\d+:\d+: warning: spec\.procedure\.chart\S*: the recipe clean-train 1\.0\.0 does not bind role \w+ of step .+ on unit rx101: role waterInlet is bound to xv999/m,
  );
  t.notMatch(await validate(DEMO), { text: /does not bind|roleBindings/ }, 'the shipped one binds all');
});

t.test('a channel that leads nowhere is warned of at the line that names it', async (t) => {
  const template = '  blocks:\n    - {name: do, type: DO, params: {addr: ""}}\n  tags:\n    - {name: cmd, dataType: BOOL, blockRef: do, portRef: IN}\n';
  const module = (channel: string): string => `  templateRef: loop\n  parentName: mixer\n  tags:\n    - name: cmd\n      channel: ${channel}\n`;
  const plc = '  protocol: modbus\n  address: plc\n  channels:\n    - {name: a, address: "coil:0", direction: output}\n';
  const folder = folderWith({
    'plant.yaml': [SITE, of('Area', 'hall', '  description: x\n'), of('ProcessCell', 'cell', '  areaName: hall\n'), of('Unit', 'mixer', '  processCellName: cell\n')].join('---\n'),
    'loop.yaml': of('ControlModuleTemplate', 'loop', template).replace('  namespace: site-north\n', ''),
    'x1.yaml': of('ControlModule', 'x1', module('plc:b')),
    'x2.yaml': of('ControlModule', 'x2', module('plc:a')),
    'plc.yaml': of('IOModule', 'plc', plc),
  });
  const { exitCode, text } = await validate(folder);
  t.equal(exitCode, 0, 'a plant is engineered in any order');
  t.match(text, /^x1\.yaml:11:16: warning: spec\.tags\[0\]\.channel: tag cmd needs channel b, which I\/O module plc does not have \[warning\]$/m);
  t.match(text, /1 warning$/);
  t.notMatch(await validate(DEMO), { text: /needs channel/ }, 'the shipped plant has none');

  // by its name and by its address: one output
  writeFileSync(path.join(folder, 'x3.yaml'), of('ControlModule', 'x3', module('plc:coil:0')));
  const claimed = await validate(folder);
  t.equal(claimed.exitCode, 1, 'two that write one output are refused');
  t.match(claimed.text, /^x2\.yaml:11:16: error: ControlModule x2: output plc:a is written by x3\.do/m);
  t.match(claimed.text, /^x3\.yaml:11:16: error: ControlModule x3: output plc:a is written by x2\.do/m);
  t.notMatch(await validate(DEMO), { text: /is written by/ }, 'the shipped plant has none');
});

t.test('what will hurt when it runs is warned of at the member that says it', async (t) => {
  const folder = folderWith({
    'site.yaml': SITE,
    'stir.yaml': of(
      'PhaseTemplate',
      'stir',
      '  roles: [{name: agitator, requiredType: motor}]\n  parameters:\n    - {name: speed, max: "100", defaultValue: "120"}\n  steps:\n    - name: begin\n      initial: true\n      actionST: |\n        WRITE(\'agitator.run\', TRUE);\n        WRITE(\'agitatr.speed\', speed);\n',
    ),
  });
  const { exitCode, text } = await validate(folder);
  t.equal(exitCode, 0, text);
  t.match(text, /^stir\.yaml:9:\d+: warning: spec\.parameters\[0\]\.defaultValue: the default does not fit: speed 120 is outside any to 100;/m);
  t.match(text, /^stir\.yaml:15:9: warning: spec\.steps\[begin\]\.actionST: line 2, WRITE\('agitatr\.speed'\): agitatr is no role .* \(the nearest is agitator\)/m);
  const { warnings } = await validate(DEMO);
  t.same(
    warnings.filter((each) => !/arrives as Draft/.test((each as { message: string }).message)),
    [],
    'the shipped plant has none',
  );
});

t.test('a resource that stands twice is an error with both places, by any word of its kind', async (t) => {
  const program = of('ControlProgram', 'p', '  unitRef: mixer\n  scanInterval: 1s\n  blocks: []\n');
  const folder = folderWith({
    'a.yaml': [SITE, of('Area', 'hall', '  description: x\n'), program].join('---\n'),
    'b.yaml': of('Area', 'hall', '  description: y\n'),
    'c.json': JSON.stringify([{ kind: 'FBNetwork', metadata: { name: 'p', namespace: 'site-north' } }]),
  });
  const { exitCode, text } = await validate(folder, { partial: true });
  t.equal(exitCode, 1);
  t.match(text, /^b\.yaml:1:1: error: Area hall stands in a\.yaml:5 and b\.yaml:1: keep one of them \[twice\]$/m);
  t.match(text, /^c\.json:1:2: error: ControlProgram p stands in a\.yaml:13 and c\.json:1: keep one of them \[twice\]$/m);
  for (const command of ['apply', 'diff'])
    await t.rejects(rowOf(command).run(localContext([], { filename: [folder] })), { exitCode: 1, told: { code: 'files_wrong' }, message: /Area hall stands in / });
});

t.test('what stands elsewhere is an error, or with --partial a warning', async (t) => {
  const folder = folderWith({ 'unit.yaml': [SITE, of('Unit', 'mixer', '  processCellName: cell\n')].join('---\n') });
  t.match(await validate(folder), { exitCode: 1, errors: [{ line: 11, column: 20, code: 'unknown_reference' }] });
  t.match(await validate(folder, { partial: true }), {
    exitCode: 0,
    errors: [],
    warnings: [{ code: 'unknown_reference' }],
    text: /all of them would be taken by a box that holds what they name, 1 warning$/,
  });
});

t.test('files without their site say what to do', async (t) => {
  const folder = folderWith({ 'hall.yaml': of('Area', 'hall', '  description: x\n') });
  const whole = /^judged is what an empty box would take, and site north stands in no file: give the folder that has it too, or --partial where it is on the box$/m;
  t.match(await validate(folder), { exitCode: 1, text: whole });
  const partly = await validate(folder, { partial: true });
  t.equal(partly.exitCode, 0);
  t.notMatch(partly.text, whole);
});

t.test('what nothing can be called stands nowhere, also with --partial', async (t) => {
  const sites = ['UPPER', 'a/b', '__proto__', 'x'.repeat(59)];
  const folder = folderWith({
    'a.yaml': sites.map((site) => of('Area', 'hall', '  description: x\n').replace('site-north', `site-${site}`)).join('---\n'),
    'b.yaml': [of('ProcessCell', 'one', '  areaName: Hall\n'), of('ProcessCell', 'other', '  areaName: hall\n')].join('---\n'),
  });
  const { errors, warnings, text, exitCode } = await validate(folder, { partial: true });
  t.equal(exitCode, 1);
  t.strictSame([errors.length, warnings.length], [sites.length + 1, 2], text);
  for (const site of sites) t.match(text, `error: Area hall: site ${site} does not exist [not_found]`);
  t.match(text, /^b\.yaml:7:13: error: ProcessCell one: areaName names Area Hall/m);
});

t.test('while a file cannot be read nobody is told that what it holds is missing, and how it may be mended', async (t) => {
  const folder = folderWith({
    'a.yaml': [SITE, 'apiVersion: x\nkind: Area\nmetadata:\n  name: hall\n namespace: site-north\n'].join('---\n'),
    'b.yaml': of('ProcessCell', 'cell', '  areaName: hall\n'),
    'c.yaml': of('Area', 'yard', '  floor: 2\n'),
    'd.yaml': 'spec:\n  description: x: y\n',
  });
  for (const options of [{}, { partial: true }]) {
    const { errors, warnings, text } = await validate(folder, options);
    t.strictSame([errors.length, warnings.length], [3, 0], text);
    t.match(text, /^c\.yaml:7:10: error: Area yard: unknown field/m, 'the rest is judged');
    t.match(text, /^d\.yaml:2:\d+: error: Nested mappings are not allowed in compact mappings: is line 2 indented like its neighbours\? \[invalid_yaml\]$/m);
    t.match(text, /^2 files cannot be read: warnings, and what seems to be missing, are told once they can$/m);
  }
});

t.test('what is found is told file by file from top to bottom, of whatever kind it is', async (t) => {
  const many = [SITE, of('Area', 'hall', '  description: x\n'), of('Unit', 'mixer', '  processCellName: cell\n'), of('Area', 'hall', '  description: y\n')];
  const folder = folderWith({ 'a.yaml': many.join('---\n'), 'b.yaml': 'kind: [\n', 'c.yaml': of('Area', 'yard', '  floor: 2\n'), 'd.yaml': 'kind: {\n' });
  const places = (text: string): readonly string[] => text.split('\n').flatMap((line) => /^(\S+:\d+:\d+: \w+)/.exec(line)?.[1] ?? []);
  const told = ['a.yaml:21:1: error', 'b.yaml:2:1: error', 'c.yaml:7:10: error', 'd.yaml:2:1: error'];
  const { text, errors } = await validate(folder);
  t.strictSame(places(text), told);
  t.strictSame(
    errors.map((each) => path.basename((each as { readonly file: string }).file)),
    told.map((line) => line.slice(0, 6)),
    'and so in JSON',
  );
  const readable = folderWith({ 'a.yaml': many.join('---\n'), 'c.yaml': of('Area', 'yard', '  floor: 2\n') });
  t.strictSame(places((await validate(readable)).text), ['a.yaml:19:20: error', 'a.yaml:21:1: error', 'c.yaml:7:10: error']);
  const partly = places((await validate(readable, { partial: true })).text);
  t.strictSame(partly, ['a.yaml:19:20: warning', 'a.yaml:21:1: error', 'c.yaml:7:10: error'], 'warnings among the errors');
});

t.test('of files that are a part of a plant its sites are taken to be there, which is said once of each, and all in them is judged', async (t) => {
  const chart = "  steps:\n    - {name: begin, initial: true, actionST: 'done := TREU;'}\n  variables:\n    - {name: done, type: BOOL}\n";
  const folder = folderWith({
    'a.yaml': [of('Area', 'hall', '  description: x\n'), of('Area', 'yard', '  description: x\n')].join('---\n'),
    'b.yaml': [
      of('ProcessCell', 'cell', '  areaName: hal\n'),
      of('PhaseTemplate', 'stir', chart),
      of('Area', 'far', '  description: x\n').replace('site-north', 'site-south'),
    ].join('---\n'),
  });
  const { text, warnings, errors } = await validate(folder, { partial: true });
  t.match(text, /^a\.yaml:5:14: warning: site north stands in no file: it is taken to be on the box \[not_found\]$/m);
  t.match(text, /^b\.yaml:\d+:14: warning: site south stands in no file/m);
  t.match(text, /^b\.yaml:7:13: warning: ProcessCell cell: .*hal, which does not exist/m);
  t.match(text, /^b\.yaml:16:\d+: error: PhaseTemplate stir: .*TREU/m);
  t.strictSame([errors.length, warnings.length], [1, 3], text);
  t.match(text, /5 manifests in 2 files: 1 error, 3 warnings$/);
  t.match(await validate(folder), { exitCode: 1, text: /site north does not exist/ }, 'of a whole plant it is an error');
});

t.test('a file that is no YAML is told with its place, and so is what is no manifest', async (t) => {
  const folder = folderWith({ 'a.yaml': 'kind: Area\nkind: Site\n', 'b.yaml': 'hello: world\n', 'c.txt': 'no: [', '.hidden/d.yaml': 'no: [', 'e.yml': '# nothing yet\n' });
  t.match(await validate(folder), {
    exitCode: 1,
    text: /^a\.yaml:2:1: error: Map keys must be unique: is a --- missing between two manifests\? \(kind stands here twice\) \[invalid_yaml\]$/m,
  });
  t.match((await validate(folder)).text, /^b\.yaml:1:8: error: unknown field hello/m);
  const fault: unknown = await rowOf('validate')
    .run(localContext([path.join(folder, 'nowhere')], {}))
    .catch((told: unknown) => told);
  t.match(fault, { exitCode: 2, told: { code: 'no_such_file' } });
});

t.test('what holds itself, and what is nested too deeply, is told with its place by all that read files', async (t) => {
  const deep = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const block = Array.from({ length: 2000 }, (_, at) => `${' '.repeat(at)}a:`).join('\n');
  const folder = folderWith({
    'a.yaml': `${SITE}spec: &s\n  list: [1, *s]\n`,
    'b.yaml': `a: ${deep(5000)}\n`,
    'c.yaml': block,
    'd.json': `{"a":${deep(100_000)}}`,
    'e.yaml': `a: ${deep(63)}\n`,
  });
  const { text, exitCode } = await validate(folder);
  t.equal(exitCode, 1);
  t.match(text, /^a\.yaml:5:13: error: \*s stands within &s: it would hold itself without end \[invalid_yaml\]$/m);
  for (const place of ['b.yaml:1:67', 'c.yaml:65:65', 'd.json:1:69'])
    t.ok(text.includes(`${place}: error: it is nested deeper than 64 levels [invalid_yaml]`), `${place} in ${text}`);
  t.notMatch(text, /e\.yaml.*invalid_yaml/);
  for (const command of ['apply', 'diff'])
    await t.rejects(rowOf(command).run(localContext([], { filename: [folder] })), { exitCode: 1, message: /a\.yaml:5:13: \*s stands within/ }, command);
});

const unit = (more: object = {}) => ({
  apiVersion: 'physical.lineside.io/v1alpha1',
  kind: 'Unit',
  metadata: { name: 'mixer', namespace: 'site-north' },
  spec: {
    processCellName: 'cell',
    description: 'Mixes',
    capabilities: ['mix'],
    roleBindings: [
      { role: 'inlet', controlModule: 'xv1' },
      { role: 'outlet', controlModule: 'xv2' },
    ],
    ...more,
  },
});

t.test('an export is one file a resource, texts as blocks, the same every time', async (t) => {
  const folder = folderWith({});
  const chart = { ...unit(), kind: 'PhaseTemplate', spec: { steps: [{ name: 'a', actionST: 'x := 1;\ny := 2;' }] } };
  t.match(writeExport(folder, [unit(), chart]), { unchanged: 0, written: { length: 2 } });
  const file = path.join(folder, 'north/phasetemplate/mixer.yaml');
  t.match(readFileSync(file, 'utf8'), /actionST: \|-\n {8}x := 1;\n {8}y := 2;\n/);
  t.match(writeExport(folder, [unit(), chart]), { unchanged: 2, written: [] });
  t.strictSame(
    readManifestFiles([folder]).manifests.map(({ value }) => value),
    [chart, unit()],
  );
});

t.test('what people have written in a file stays: comments, order, several in one file', async (t) => {
  const text = `# drawing 4711\nkind: Unit\napiVersion: physical.lineside.io/v1alpha1\nmetadata: {name: mixer, namespace: site-north}\nspec:\n  description: Mixes # slowly\n  processCellName: cell\n  capabilities: [mix]\n  roleBindings:\n    # the big one\n    - role: outlet\n      controlModule: xv2\n    - {role: inlet, controlModule: xv1}\n---\n# not on this box\nkind: Area\napiVersion: physical.lineside.io/v1alpha1\nmetadata: {name: attic, namespace: site-north}\n`;
  const folder = folderWith({ 'own/all.yaml': text });
  const same = unit({
    roleBindings: [
      { role: 'outlet', controlModule: 'xv2' },
      { role: 'inlet', controlModule: 'xv1' },
    ],
  });
  t.match(writeExport(folder, [same]), { unchanged: 1, written: [], notOnBox: [path.join(folder, 'own/all.yaml')] });
  t.equal(readFileSync(path.join(folder, 'own/all.yaml'), 'utf8'), text, 'to the letter');

  const changed = unit({
    description: 'Mixes fast',
    roleBindings: [
      { role: 'outlet', controlModule: 'xv9' },
      { role: 'inlet', controlModule: 'xv1' },
    ],
    scanInterval: '1s',
  });
  t.match(writeExport(folder, [changed]), { unchanged: 0, written: [path.join(folder, 'own/all.yaml')] });
  const after = readFileSync(path.join(folder, 'own/all.yaml'), 'utf8');
  for (const words of ['# drawing 4711', 'Mixes fast # slowly', '# the big one', 'controlModule: xv9', '# not on this box', 'scanInterval: 1s']) t.ok(after.includes(words), words);
  t.strictSame(readManifestFiles([folder]).manifests[0]?.value, changed);
  t.match(writeExport(folder, [changed]), { unchanged: 1, written: [] });
});

t.test('a change of one does not change another that stands for the same in its file', async (t) => {
  const text = `- &first\n  apiVersion: physical.lineside.io/v1alpha1\n  kind: Area\n  metadata: {name: a, namespace: site-north}\n  spec: &common {description: same} # of both\n- apiVersion: physical.lineside.io/v1alpha1\n  kind: Area\n  metadata: {name: b, namespace: site-north}\n  spec: *common\n`;
  const folder = folderWith({ 'areas.yaml': text });
  const area = (name: string, description: string) => ({
    apiVersion: 'physical.lineside.io/v1alpha1',
    kind: 'Area',
    metadata: { name, namespace: 'site-north' },
    spec: { description },
  });
  t.match(writeExport(folder, [area('a', 'same'), area('b', 'same')]), { unchanged: 2, written: [] });
  t.match(writeExport(folder, [area('a', 'changed'), area('b', 'same')]), { unchanged: 1, written: { length: 1 } });
  t.strictSame(
    readManifestFiles([folder]).manifests.map(({ value }) => value),
    [area('a', 'changed'), area('b', 'same')],
  );
  t.match(readFileSync(path.join(folder, 'areas.yaml'), 'utf8'), /# of both/);
});

t.test('links are followed, endings are taken in any case, and a folder that holds itself is entered once', async (t) => {
  const shared = folderWith({ 'hall.YAML': of('Area', 'hall', '  description: x\n') });
  const folder = folderWith({ 'site.yml': SITE });
  symlinkSync(shared, path.join(folder, 'common'));
  symlinkSync(folder, path.join(folder, 'again'));
  symlinkSync('/nonexistent', path.join(folder, 'gone'));
  t.match(await validate(folder), { exitCode: 0, text: /^2 manifests in 2 files/ });
});

t.test('an export writes nothing where a file cannot be read or a resource stands twice', async (t) => {
  const broken = folderWith({ 'a.yaml': 'kind: [' });
  t.throws(() => writeExport(broken, [unit()]), CommandError);
  const twice = folderWith({ 'a.yaml': yamlText(unit()), 'b.yaml': yamlText(unit()) });
  t.throws(() => writeExport(twice, [unit({ description: 'x' })]), /both hold Unit mixer/);
});

t.test('an export takes another file where its own holds something else', async (t) => {
  const others = '# ours\n' + yamlText({ ...unit(), metadata: { name: 'other', namespace: 'site-north' } });
  const folder = folderWith({ 'north/unit/mixer.yaml': others });
  const beside = path.join(folder, 'north/unit/mixer-2.yaml');
  t.match(writeExport(folder, [unit()]), { written: [beside], notOnBox: [path.join(folder, 'north/unit/mixer.yaml')] });
  t.equal(readFileSync(path.join(folder, 'north/unit/mixer.yaml'), 'utf8'), others, 'to the letter');
  t.match(writeExport(folder, [unit()]), { written: [], unchanged: 1 }, 'it is found there again');
});

t.test('what is told as a name is never a way out of the folder', async (t) => {
  const folder = folderWith({ 'inner/readme.txt': 'nothing' });
  for (const manifest of [
    { ...unit(), metadata: { name: '../../../escaped', namespace: 'site-north' } },
    { ...unit(), metadata: { name: 'mixer', namespace: 'site-../..' } },
    { ...unit(), metadata: { name: 'mixer', namespace: 'site-..' } },
    { ...unit(), kind: '../unit' },
  ])
    t.throws(() => writeExport(path.join(folder, 'inner'), [unit({ description: 'x' }), manifest]), /is no resource of a box: nothing was written/);
  t.strictSame(readdirSync(folder, { recursive: true }).sort(), ['inner', 'inner/readme.txt'], 'nothing was written');
});

t.test('the schemas take the shipped plant, and name what they do not', async (t) => {
  const folder = folderWith({});
  const { data } = await rowOf('schemas').run(localContext([folder], {}));
  const { files } = data as { readonly files: readonly string[] };
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  const schemas = files.filter((file) => file.endsWith('.schema.json'));
  for (const file of schemas) ajv.addSchema(JSON.parse(readFileSync(file, 'utf8')), path.basename(file));
  const check = ajv.getSchema('manifest.schema.json');
  t.ok(check);
  for (const { value, file } of readManifestFiles([DEMO]).manifests) t.ok(check?.(value), `${file} ${JSON.stringify(check?.errors?.at(0))}`);
  t.notOk(check?.({ ...unit(), spec: { ...unit().spec, colour: 'red' } }));
  t.notOk(check?.({ ...unit(), kind: 'Gadget' }));
  t.match(JSON.parse(readFileSync(path.join(folder, '.vscode/settings.json'), 'utf8')), { 'yaml.schemas': { './.lineside/manifest.schema.json': ['**/*.yaml', '**/*.yml'] } });
});

t.test('lines that left and came are shown with a little around them', async (t) => {
  t.strictSame(lineDifferences('a\nb\nc\nd\ne\nf', 'a\nb\nc\nd\nX\nf'), ['  c', '  d', '- e', '+ X', '  f']);
  t.strictSame(lineDifferences('', 'a'), ['- ', '+ a']);
});

t.test('a shell is offered no word that it would take for more than a word', async (t) => {
  for (const word of ['B-12', 'wo_7', 'north/unit', 'tic1.pv', '--reason', 'capability=unit', 'a@b', 'x:y']) t.ok(isOffered(word), word);
  for (const word of ['$(touch x)', '`x`', 'a;b', 'a b', "it's", 'a"b', 'a|b', 'a&b', 'a>b', '~root', '*', 'a\nb', '\u001b[2J', 'a\\b', '!1', '#', '{a,b}', 'größe', ''])
    t.notOk(isOffered(word), JSON.stringify(word));
});

t.test('every command has words of help, and options that its arguments do not hide', async (t) => {
  const typed = COMMANDS.map((row) => row.typed.replace(/ [<[].*/, ''));
  t.equal(new Set(typed).size, typed.length);
  for (const { typed: words, about, options = [] } of COMMANDS) {
    t.ok(about.length > 10, words);
    for (const [flags, meaning] of options) t.ok(/^(-\w, )?--[a-z-]+( [<[][\w.=]+[>\]])?$/.test(flags) && meaning !== '', `${words} ${flags}`);
  }
});

t.test('every group of commands says in the help what it is about', async (t) => {
  const { out } = await new LinesideCommand(folderWith({})).run(['--help']);
  const groups = new Set(COMMANDS.flatMap(({ typed }) => (/^\w+ \w/.test(typed) ? typed.split(' ').slice(0, 1) : [])));
  t.ok(groups.has('phase'));
  for (const group of groups) t.match(out, new RegExp(`^ +${group} .*\\w{3}`, 'm'), group);
});

t.test('a pipe or a device between the files of a folder is told and not waited for', async (t) => {
  for (const [put, told] of [
    [(file: string) => execFileSync('mkfifo', [file]), /hall\.yaml is a pipe, and a file has to stand there/],
    [(file: string) => symlinkSync('/dev/zero', file), /hall\.yaml is a device/],
  ] as const) {
    const folder = folderWith({ 'site.yaml': SITE });
    put(path.join(folder, 'hall.yaml'));
    await t.rejects(validate(folder), told);
  }
});
