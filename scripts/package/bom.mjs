// The bill of materials, CycloneDX 1.6: what @cyclonedx/cyclonedx-npm reads of the lock file, less what does not go along, and what no lock file
// knows: Node, the binary of uWebSockets.js, SQLite and the Debian packages of the container; as `formulation` those in which it was made. Deterministic: its number is made of its contents, its instant is that of the commit.
import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { CACHE, keyOf, PINS, ran, root } from './facts.mjs';
import { productionFolders } from './rules.mjs';

const TOOL = 'node_modules/@cyclonedx/cyclonedx-npm/bin/cyclonedx-npm-cli.js';
const PATH_PROPERTY = 'cdx:npm:package:path';
const IN_CONTAINER = 'in the container, not in the Debian package and the archive';

/**
 * @param parts `production` (holds node_modules), `release` (version, commit, epochS), `sqlite` (version), `webSockets` (name, sha256), `nodeSha256`,
 *   `debian` (`builder` and `container`, as debianOf gives them)
 * @returns the document as text
 */
export function billOfMaterials({ production, release, sqlite, webSockets, nodeSha256, debian }) {
  const read = readBill(production);
  const { packages } = JSON.parse(readFileSync(path.join(production, 'package-lock.json'), 'utf8'));
  const shipped = new Set(productionFolders(packages));
  const components = read.components.flatMap(flat).filter((component) => shipped.has(pathOf(component)));
  const missing = [...shipped].filter((folder) => !components.some((component) => pathOf(component) === folder));
  if (missing.length > 0) throw new Error(`the bill of materials lacks ${missing.join(', ')}`);
  const added = [
    {
      type: 'platform',
      'bom-ref': 'node',
      name: 'node',
      version: PINS.node.version,
      licenses: [{ license: { id: 'MIT' } }],
      purl: `pkg:generic/node@${PINS.node.version}`,
      cpe: `cpe:2.3:a:nodejs:node.js:${PINS.node.version}:*:*:*:*:*:*:*`,
      hashes: [{ alg: 'SHA-256', content: nodeSha256 }],
      description: 'in the Debian package and the container, not in the archive',
    },
    {
      type: 'file',
      'bom-ref': 'uwebsockets-binary',
      name: `node_modules/uWebSockets.js/${webSockets.name}`,
      licenses: [{ license: { id: 'Apache-2.0' } }],
      hashes: [{ alg: 'SHA-256', content: webSockets.sha256 }],
      description: 'compiled by others; scripts/package/pins.json pins it',
    },
    {
      type: 'library',
      'bom-ref': 'sqlite',
      name: 'sqlite',
      version: sqlite.version,
      licenses: [{ license: { name: 'public domain' } }],
      purl: `pkg:generic/sqlite@${sqlite.version}`,
      cpe: `cpe:2.3:a:sqlite:sqlite:${sqlite.version}:*:*:*:*:*:*:*`,
      description: 'compiled into better-sqlite3',
    },
    ...debianComponents(debian.container, { description: IN_CONTAINER }),
  ];
  const own = read.metadata.component['bom-ref'];
  const refs = new Set([own, ...components.map((component) => component['bom-ref'])]);
  const dependencies = read.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: [...dependsOn.filter((each) => refs.has(each)), ...(ref === own ? ['node'] : []), ...partsOf(ref)].sort() }));
  const document = {
    ...read,
    metadata: {
      timestamp: new Date(release.epochS * 1000).toISOString(),
      tools: { components: read.metadata.tools.components.filter(({ name }) => name !== 'npm').map(({ type, group, name, version }) => ({ type, group, name, version })) },
      component: { ...read.metadata.component, version: release.version, properties: [{ name: 'lineside:commit', value: release.commit }] },
    },
    components: [...components, ...added],
    dependencies: [...dependencies, ...added.map((component) => ({ ref: component['bom-ref'] }))],
    formulation: [madeIn(debian.builder, 'builder')],
  };
  return textOf(document);
}

/**
 * The bill of the image of the disk: that of the package that it has installed, without the container, and the Debian around it.
 * @param parts `bill` (of the package, as text), `deb` (name, sha256), `release`, `debian` (`image` and `imageTools`, as debianOf gives them)
 */
export function billOfImage({ bill, deb, release, debian }) {
  const { components, dependencies, metadata, formulation, serialNumber, ...head } = JSON.parse(bill);
  const own = components.filter(({ description }) => description !== IN_CONTAINER);
  const program = { ...metadata.component, version: release.version, hashes: [{ alg: 'SHA-256', content: deb.sha256 }], description: deb.name };
  const grub = pick(debian.imageTools, (name) => name === 'grub-efi-amd64-bin');
  const around = [...debianComponents(debian.image, {}), ...debianComponents(grub, { description: 'in the image as EFI/BOOT/BOOTX64.EFI, not installed' })];
  const image = {
    type: 'operating-system',
    'bom-ref': 'lineside-image',
    name: 'lineside-image',
    version: release.version,
    properties: [{ name: 'lineside:commit', value: release.commit }],
  };
  const refs = new Set([program, ...own].map((component) => component['bom-ref']));
  const document = {
    ...head,
    metadata: { ...metadata, timestamp: new Date(release.epochS * 1000).toISOString(), component: image },
    components: [program, ...own, ...around],
    dependencies: [
      { ref: image['bom-ref'], dependsOn: [program, ...around].map((component) => component['bom-ref']).sort() },
      ...dependencies.filter(({ ref }) => refs.has(ref)),
      ...around.map((component) => ({ ref: component['bom-ref'] })),
    ],
    formulation: [...formulation, madeIn(debian.imageTools, 'imageTools')],
  };
  return textOf(document);
}

/** Packages of a Debian as components. The source stands along, since the security team of Debian counts by it. */
function debianComponents({ packages, release }, words, prefix = '') {
  return Object.entries(packages).map(([name, { version, architecture, sha256, source }]) => {
    const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${architecture}&distro=debian-${release}`;
    const properties = [{ name: 'lineside:debian:source', value: source }];
    return { type: 'library', 'bom-ref': `${prefix}${purl}`, name, version, purl, hashes: [{ alg: 'SHA-256', content: sha256 }], properties, ...words };
  });
}

/** What something was made in and is not in it. */
function madeIn(debian, name) {
  return { 'bom-ref': `made-in-${name}`, components: debianComponents(debian, {}, `${name}:`), properties: [{ name: 'lineside:debian:taken', value: debian.taken }] };
}

function pick({ packages, ...debian }, isMeant) {
  return { ...debian, packages: Object.fromEntries(Object.entries(packages).filter(([name]) => isMeant(name))) };
}

/** The document in its order, with a number that its contents make. */
function textOf(document) {
  const { $schema, bomFormat, specVersion, serialNumber: _, ...rest } = document;
  return `${JSON.stringify({ $schema, bomFormat, specVersion, serialNumber: serialOf(rest), ...rest }, null, 1)}\n`;
}

function readBill(production) {
  const file = path.join(CACHE, `bill-${keyOf(process.pid)}.json`);
  const options = ['--package-lock-only', '--omit', 'dev', '--output-reproducible', '--spec-version', '1.6', '--output-format', 'JSON', '--output-file', file];
  ran(process.execPath, [path.join(root, TOOL), ...options, path.join(production, 'package.json')], { cwd: production });
  const document = JSON.parse(readFileSync(file, 'utf8'));
  rmSync(file);
  return document;
}

/** A package that stands below another one is a component of it there; here each stands for itself. */
function flat({ components = [], ...component }) {
  return [component, ...components.flatMap(flat)];
}

function pathOf({ properties = [] }) {
  return properties.find(({ name }) => name === PATH_PROPERTY)?.value;
}

/** What is within a package that its own manifest does not name. */
function partsOf(ref) {
  if (ref.includes('|uwebsockets@')) return ['uwebsockets-binary'];
  return ref.includes('|better-sqlite3@') ? ['sqlite'] : [];
}

/** A name-based UUID (RFC 9562, version 8) of the contents. */
function serialOf(contents) {
  const hash = createHash('sha256').update(JSON.stringify(contents)).digest();
  hash[6] = (hash[6] & 0x0f) | 0x80;
  hash[8] = (hash[8] & 0x3f) | 0x80;
  return `urn:uuid:${hash.toString('hex', 0, 16).replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5')}`;
}
