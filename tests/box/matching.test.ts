/** Hardware profiles: which one a recorded machine has, and that the shipped ones are of one mind. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { chooseBox } from '../../src/appliance/box.js';
import { factsOf } from '../../src/box/facts.js';
import { Machine } from '../../src/box/machine.js';
import { chooseProfile } from '../../src/box/matching.js';
import type { Match, Profile } from '../../src/box/profile.js';
import { readProfiles, SCHEMA_FILE } from '../../src/box/profiles.js';
import { SettingsError } from '../../src/settings.js';

const SHIPPED = path.join(process.cwd(), 'firmware-profiles');
const MACHINES = path.join(process.cwd(), 'tests/box/machines');
const machine = (name: string): Machine => new Machine(path.join(MACHINES, name));

/** Recorded machine, architecture, profile. */
const KNOWN: readonly (readonly [name: string, arch: string, profile: string])[] = [
  ['office-pc', 'x64', 'generic-x86-64'],
  ['simatic-ipc', 'x64', 'siemens-simatic-ipc'],
  ['raspberry-pi-4', 'arm64', 'raspberry-pi-4'],
  ['virtual-machine', 'x64', 'qemu-x86-64'],
  ['thin-client', 'x64', 'unknown-box'],
];

for (const [name, arch, profile] of KNOWN) {
  t.test(`the recorded machine ${name} has the hardware profile ${profile}`, async (t) => {
    const box = chooseBox(SHIPPED, 'auto', machine(name), arch);
    t.match(box, { profile: { name: profile }, by: 'machine' });
    const draft = box.notes.filter((note) => note.includes('is a draft'));
    t.equal(draft.length, box.profile.verified ? 0 : 1, 'a draft is warned of');
    if (profile === 'unknown-box') t.match(box.notes.join(), /no hardware profile knows this machine/);
  });
}

t.test('facts of a board come from its device tree, of a PC from its DMI table, and an empty machine has none', async (t) => {
  t.match(factsOf(machine('raspberry-pi-4'), 'arm64'), {
    vendor: '',
    model: 'Raspberry Pi 4 Model B Rev 1.4',
    compatible: ['raspberrypi,4-model-b', 'brcm,bcm2711'],
    cores: 4,
    memoryMiB: 3793,
  });
  t.match(factsOf(machine('simatic-ipc'), 'x64'), { vendor: 'SIEMENS AG', product: 'SIMATIC IPC227E', model: '', cpu: /Celeron/, cores: 4 });
  t.same(factsOf(machine('nothing'), 'x64'), { arch: 'x64', vendor: '', product: '', board: '', model: '', compatible: [], cpu: '', cores: 0, memoryMiB: 0 });
});

const LIMITS = { units: 1, tags: 1, streams: 1, scanIntervalMinMs: 10, historianDiskShare: 0.5 };
const profile = (name: string, match: Match): Profile => ({ name, title: name, verified: true, basis: 'test', match, limits: LIMITS, hardware: { serialPorts: [], network: [] } });
const FACTS = factsOf(machine('office-pc'), 'x64');
const UNKNOWN = profile('unknown-box', {});

t.test('the profile that says most of which box it is wins, then the one with most conditions, and a condition that does not hold rules a profile out', async (t) => {
  const plain = profile('plain', { arch: 'x64' });
  const dell = profile('dell', { arch: 'x64', vendor: 'dell*' });
  const large = profile('large', { arch: 'x64', coresMin: 2, memoryMinMiB: 1000 });
  const small = profile('small', { arch: 'x64', vendor: 'Dell Inc.', memoryMinMiB: 64_000 });
  t.equal(chooseProfile([UNKNOWN, plain], FACTS).profile, plain);
  t.equal(chooseProfile([UNKNOWN, plain, large], FACTS).profile, large);
  t.equal(chooseProfile([dell, UNKNOWN, plain, large, small], FACTS).profile, dell);
  t.equal(chooseProfile([UNKNOWN, small], FACTS).profile, UNKNOWN);
});

t.test('two profiles that fit equally well are told by name, and the unknown box holds', async (t) => {
  const chosen = chooseProfile([UNKNOWN, profile('by-vendor', { vendor: 'Dell Inc.' }), profile('by-board', { board: '0NW6H5' })], FACTS);
  t.equal(chosen.profile, UNKNOWN);
  t.match(chosen.notes, [/by-vendor and by-board fit this machine equally well.*set box\.profile/]);
});

t.test('a dot or a bracket of a pattern is a letter, a star is any', async (t) => {
  t.equal(chooseProfile([UNKNOWN, profile('dots', { vendor: 'Dell.Inc.' })], FACTS).profile, UNKNOWN);
  t.equal(chooseProfile([UNKNOWN, profile('stars', { product: '*7050' })], FACTS).profile.name, 'stars');
});

t.test('box.profile names a profile: of another machine it holds and is told, one that is not there ends the start', async (t) => {
  t.match(chooseBox(SHIPPED, 'generic-x86-64', machine('office-pc'), 'x64'), { profile: { name: 'generic-x86-64' }, by: 'setting', notes: [] });
  const other = chooseBox(SHIPPED, 'raspberry-pi-4', machine('office-pc'), 'x64');
  t.equal(other.by, 'setting');
  t.match(other.notes[0], /this machine is no such box \(arch, model, compatible differ\)/);
  t.throws(() => chooseBox(SHIPPED, 'abacus', machine('office-pc'), 'x64'), new SettingsError('box.profile', ''));
  t.throws(() => chooseBox(SHIPPED, 'abacus', machine('office-pc'), 'x64'), /use auto or one of generic-x86-64, /);
});

t.test('the shipped profiles: each fits its schema, no two have the same conditions, and the verified ones are those that were checked', async (t) => {
  const validate = new Ajv2020({ strict: false }).compile(JSON.parse(readFileSync(path.join(SHIPPED, SCHEMA_FILE), 'utf8')));
  const shipped = readProfiles(SHIPPED);
  for (const { name } of shipped) t.ok(validate(JSON.parse(readFileSync(path.join(SHIPPED, `${name}.json`), 'utf8'))), `${name}: ${JSON.stringify(validate.errors)}`);
  t.equal(new Set(shipped.map(({ match }) => JSON.stringify(match))).size, shipped.length);
  t.same(
    shipped.filter(({ verified }) => verified).map(({ name }) => name),
    ['generic-x86-64', 'unknown-box'],
  );
  t.ok(!validate({ ...shipped[0], limits: {} }), 'and the schema refuses what is none');
});

t.test('a file that is no profile is refused by file and member', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'lineside-profiles-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const [shipped] = readProfiles(SHIPPED);
  const wrong: readonly (readonly [text: string, told: RegExp])[] = [
    ['{', /odd\.json cannot be read/],
    [JSON.stringify({ ...shipped, limits: { ...LIMITS, units: 0 } }), /odd\.json is not one: limits\.units/],
    [JSON.stringify({ ...shipped, colour: 'red' }), /odd\.json is not one: colour/],
    [JSON.stringify(shipped), /odd\.json calls itself generic-x86-64/],
  ];
  for (const [text, told] of wrong) {
    writeFileSync(path.join(folder, 'odd.json'), text);
    t.throws(() => readProfiles(folder), told);
    t.throws(() => readProfiles(folder), { name: 'ProfileFault' });
  }
});
