/** G22: packages that were made to do harm are refused with a cause, within two seconds and 256 MB, and oddities are told from them (import.test.ts). */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import t from 'tap';
import { PackageReader } from '../../../src/domains/mtp-import/package-reader.js';
import { at } from '../../support/at.js';
import { amlOf, DOSING } from '../../support/mtp-package.js';
import { ownFolder } from '../../support/own-folder.js';
import { type ZipMember, zipOf } from '../../support/zip.js';

const packages = new PackageReader();
const AML = amlOf(DOSING);
const base64 = (bytes: Uint8Array | string): string => Buffer.from(bytes as Uint8Array).toString('base64');

/** What the last row of its report says; the name that it is read under is not that of any file. */
async function refused(content: Uint8Array | string): Promise<string> {
  const read = await packages.read({ content: base64(content), fileName: 'sent.mtp' });
  if (!('faults' in read)) return `it was taken: ${JSON.stringify(read.module).slice(0, 200)}`;
  const { severity, path, message } = at(read.faults, read.faults.length - 1);
  return `${severity} ${path}: ${message}`;
}

const member = (name: string, more: Partial<ZipMember> = {}): ZipMember => ({ name, bytes: AML, ...more });
const document = (inside: string, declared = ''): string => `<?xml version="1.0"?>${declared}<CAEXFile>${inside}</CAEXFile>`;

const HOSTILE: readonly (readonly [string, () => Uint8Array | string, RegExp])[] = [
  // zip slip
  ['a member above the archive', () => zipOf([member('../../etc/manifest.aml')]), /invalid relative path/],
  ['a member above the archive, with back slashes', () => zipOf([member('..\\..\\manifest.aml')]), /invalid relative path/],
  ['an absolute member', () => zipOf([member('/etc/manifest.aml')]), /absolute path/],
  ['an absolute member of another system', () => zipOf([member('C:\\manifest.aml')]), /absolute path/],
  // bombs
  ['a bomb by its ratio', () => zipOf([member('manifest.aml', { bytes: Buffer.alloc(15 * 1024 ** 2, 0x20) })]), /unpacks to 15728640 bytes out of/],
  ['a bomb beyond the bound', () => zipOf([member('manifest.aml', { bytes: Buffer.alloc(20 * 1024 ** 2, 0x20) })]), /unpacks to more than/],
  ['a bomb that says it is small', () => zipOf([member('manifest.aml', { bytes: Buffer.alloc(20 * 1024 ** 2, 0x20), saidSize: 1000 })]), /cannot be read: too many bytes/],
  ['a size that is not true', () => zipOf([member('manifest.aml', { saidSize: AML.length * 2 })]), /cannot be read: not enough bytes/],
  ['an archive within the archive', () => zipOf([{ name: 'manifest.zip', bytes: zipOf([member('manifest.aml')]) }]), /has no AutomationML file/],
  [
    'an archive within the archive that calls itself a manifest',
    () => zipOf([{ name: 'manifest.aml', bytes: zipOf([member('manifest.aml')]) }]),
    /no well-formed XML|not the UTF-8/,
  ],
  ['many members', () => zipOf(Array.from({ length: 2001 }, (_, n) => ({ name: `m${n}`, bytes: '' }))), /2001 members, and a package may have 2000/],
  ['two members of one name', () => zipOf([member('manifest.aml'), member('manifest.aml')]), /two members/],
  ['an encrypted member', () => zipOf([member('manifest.aml', { flags: 1 })]), /encrypted/],
  ['a long name', () => zipOf([member(`${'n'.repeat(300)}.aml`)]), /has 304 characters/],
  ['a name with control characters', () => zipOf([member('mani\u0007fest.aml')]), /control characters/],
  ['an archive cut short', () => zipOf([member('manifest.aml')]).subarray(0, 400), /archive cannot be read/],
  ['an archive of nothing', () => zipOf([]), /no AutomationML file/],
  ['several that may be meant', () => zipOf([member('a.aml'), member('b.aml')]), /several files may be the manifest: a.aml, b.aml/],
  ['packed bytes that are none', () => Buffer.concat([Buffer.from('PK\u0003\u0004'), Buffer.alloc(200, 7)]), /archive cannot be read/],
  // XML
  ['an external entity', () => document('&x;', '<!DOCTYPE CAEXFile [<!ENTITY x SYSTEM "file:///etc/passwd">]>'), /document type/],
  ['an external document type', () => document('', '<!DOCTYPE CAEXFile SYSTEM "http://192.0.2.1/a.dtd">'), /document type/],
  ['a parameter entity', () => document('', '<!DOCTYPE CAEXFile [<!ENTITY % p SYSTEM "http://192.0.2.1/p"> %p;]>'), /document type/],
  [
    'laughs, a billion of them',
    () => document('&l9;', `<!DOCTYPE CAEXFile [<!ENTITY l0 "lol">${Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join('')}]>`),
    /document type/,
  ],
  ['an entity that is not declared', () => document('&nothing;'), /undefined entity/],
  ['deep nesting', () => document('<a>'.repeat(1000)), /nested more than 64 deep/],
  ['many elements', () => document('<a/>'.repeat(120_000)), /more than 100000 elements/],
  ['a huge attribute', () => document(`<a b="${'x'.repeat(7_000_000)}"/>`), /attribute b has 7000000 characters/],
  ['a huge text', () => document('x'.repeat(7_000_000)), /text of element CAEXFile/],
  ['a huge name of an element', () => document(`<${'a'.repeat(3_000_000)}/>`), /no module|is no module type package/],
  ['many attributes', () => document(`<a ${Array.from({ length: 50_000 }, (_, n) => `a${n}="x"`).join(' ')}/>`), /50000 attributes/],
  ['a character that XML does not have', () => document('&#0;'), /no well-formed XML/],
  ['an attribute that is given twice', () => document('<a b="1" b="2"/>'), /no well-formed XML/],
  ['a flood of comments', () => document('<!-- c -->'.repeat(800_000)), /no module type package/],
  ['a flood of instructions', () => document('<?a b?>'.repeat(1_000_000)), /no module type package/],
  ['a text of many small pieces', () => document('&amp;'.repeat(1_500_000)), /text of element CAEXFile/],
  ['an element that is not closed', () => '<CAEXFile><a>', /unclosed tag/],
  ['another document', () => '<svg/>', /its root is svg, not CAEXFile/],
  ['nothing of a module', () => document(''), /no module type package/],
  ['nothing', () => '', /the file is empty/],
  ['noise', () => Buffer.from(Array.from({ length: 5000 }, (_, n) => (n * 7919) % 251)), /not the UTF-8|no well-formed XML/],
  ['half a character', () => Buffer.concat([Buffer.from('<CAEXFile>'), Buffer.from([0xc3])]), /not the UTF-8/],
  ['an encoding that nobody has', () => '<?xml version="1.0" encoding="x-user-defined"?><CAEXFile/>', /declares the encoding x-user-defined/],
];

const SECONDS_MAX = 2;
const MEGABYTES_MAX = 256;
const MEGABYTE = 1024 ** 2;

/** Most that the process had since it was asked to forget (proc(5)), in bytes. */
const peakRss = (): number => Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
const forgetPeak = (): void => writeFileSync('/proc/self/clear_refs', '5');

t.test('G22: a hostile package is refused with its cause, within two seconds of the processor and 256 MB', async (t) => {
  await packages.read({ content: base64(AML), fileName: 'warm.aml' });
  let [longest, largest] = [0, 0];
  for (const [what, make, cause] of HOSTILE) {
    const content = make();
    forgetPeak();
    const before = peakRss();
    const begun = process.cpuUsage();
    t.match(await refused(content), cause, what);
    const { user, system } = process.cpuUsage(begun);
    longest = Math.max(longest, (user + system) / 1e6);
    largest = Math.max(largest, (peakRss() - before) / MEGABYTE);
  }
  t.ok(longest <= SECONDS_MAX, `the longest took ${longest.toFixed(2)} s`);
  t.ok(largest <= MEGABYTES_MAX, `the largest took ${Math.round(largest)} MB`);
  t.comment(`${HOSTILE.length} packages: ${longest.toFixed(2)} s, ${Math.round(largest)} MB at most`);
});

t.test('G22: nothing that a package names is opened, asked for, or written', async (t) => {
  const folder = ownFolder(t);
  const temporary = path.join(folder, 'tmp');
  mkdirSync(temporary);
  // whoever opens it waits for a writer, who never comes
  const pipe = path.join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  let connections = 0;
  const server = net.createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as net.AddressInfo).port}/x`;
  const { TMPDIR } = process.env;
  process.env.TMPDIR = temporary; // the thread that reads is begun with it
  t.teardown(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  });
  const slipped = path.join(folder, 'slipped.aml');
  const up = `${'../'.repeat(20)}${slipped.slice(1)}`;
  const named = `<ExternalReference Path="file://${pipe}" Alias="a"/><ExternalReference Path="${url}" Alias="b"/><x:include xmlns:x="http://www.w3.org/2001/XInclude" href="file://${pipe}"/>`;
  const sheet = `<?xml-stylesheet href="${url}"?>`;
  const schema = ` xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="${url}"`;
  for (const [what, content] of [
    ['a file as an entity', document('&x;', `<!DOCTYPE CAEXFile [<!ENTITY x SYSTEM "file://${pipe}">]>`)],
    ['a server as an entity', document('&x;', `<!DOCTYPE CAEXFile [<!ENTITY x SYSTEM "${url}">]>`)],
    ['a document type of a server', document('', `<!DOCTYPE CAEXFile SYSTEM "${url}">`)],
    ['references, an inclusion', amlOf({ ...DOSING, behind: named })],
    ['a style sheet and a schema', AML.replace('<CAEXFile', `${sheet}<CAEXFile${schema}`)],
    ['the address of its own server', amlOf({ ...DOSING, endpoint: url.replace('http', 'opc.tcp') })],
    ['a member that leads out', zipOf([member(up)])],
    ['a member that leads out, beside a manifest', zipOf([member('manifest.aml'), member(up)])],
    ['many members', zipOf([member('manifest.aml'), ...Array.from({ length: 50 }, (_, n) => ({ name: `pictures/${n}.png`, bytes: 'x' }))])],
  ] as const) {
    const read = await packages.read({ content: base64(content), fileName: slipped });
    t.notMatch('faults' in read ? read.faults.at(-1)?.message : '', /longer than/, `${what}: no file was waited for`);
  }
  t.equal(connections, 0);
  t.same(readdirSync(temporary), []);
  t.notOk(existsSync(slipped));
});

t.test('G22: packages one after the other leave nothing behind: each thread has ended, and its memory is given back before the next is read', async (t) => {
  const content = base64(document('<a b="c"/>'.repeat(99_000)));
  const threads = (): number => readdirSync('/proc/self/task').length;
  const rss = (): number => process.memoryUsage.rss() / MEGABYTE;
  await packages.read({ content, fileName: 'first.aml' });
  const [begunWith, begunAt] = [threads(), rss()];
  for (let count = 0; count < 4; count += 1) await packages.read({ content, fileName: 'next.aml' });
  t.equal(threads(), begunWith);
  t.ok(rss() - begunAt < 64, `${Math.round(rss() - begunAt)} MB more than behind the first`);
});

t.test('G22: what is no base64 is told by its place, also where it stands at the end of some megabytes', async (t) => {
  const refusedText = async (content: string): Promise<string> => {
    const read = await packages.read({ content, fileName: 'sent.mtp' });
    return 'faults' in read ? at(read.faults, read.faults.length - 1).message : 'it was taken';
  };
  const long = 'A'.repeat(4_000_000);
  t.equal(await refusedText(`${long}!`), 'content is no base64: its character 4000001 is "!"');
  t.equal(await refusedText(`${' '.repeat(4_000_000)}!`), 'content is no base64: its character 4000001 is "!"');
  t.equal(await refusedText(`${long}=A`), 'content is no base64: it goes on behind the = at its character 4000001');
  t.equal(await refusedText(`${long}= = =`), 'content is no base64: it ends with more than two =');
  t.not(await refusedText(`${base64(AML)} \n`), '');
});

t.test('G22: what is in a package is text and nothing else', async (t) => {
  const names = ['__proto__', 'constructor', 'toString', "');process.exit(1);//", '${process.exit(1)}', '../../x', 'a\u202eb', ' ', '<script>', 'x'.repeat(5000)];
  const module = {
    ...DOSING,
    elements: names.map((name) => ({ name, className: 'IndicatorElement/AnaView', nodes: [{ name: 'V', access: 1 as const }] })),
    services: names.slice(0, 3).map((name) => ({ name, procedures: [{ id: 1, name: '__proto__' }] })),
  };
  const read = await packages.read({ content: base64(amlOf(module)), fileName: 'names.aml' });
  if (!('module' in read)) throw new Error(JSON.stringify(read.faults));
  t.same(
    read.module.services.map(({ name }) => name),
    ['__proto__', 'constructor', 'toString'],
  );
  t.ok(read.module.assemblies.every(({ name }) => name.length <= 200 && !name.includes('\u202e')));
  t.equal(({} as { readonly V?: unknown }).V, undefined);
});

t.test('G22: a second package waits outside while one is read, and a long one does not hold the gateway', async (t) => {
  const reading = packages.read({ content: base64(AML), fileName: 'first.aml' });
  await t.rejects(packages.read({ content: base64(AML), fileName: 'second.aml' }), /another package is being read/);
  t.ok('module' in (await reading));
});
