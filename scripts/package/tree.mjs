// What stands in the package, as entries: the program as built, its production dependencies, the folders of the tree that a box needs, and
// what says of it what it is.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { buildProgram } from '../build.mjs';
import { PINS, root } from './facts.mjs';
import { filesOf, productionEntries } from './production.mjs';

/** Folders of the tree that go along whole, those that are there. */
const FOLDERS = ['bin', 'docs', 'examples', 'systemd', 'firmware-profiles'];
const FILES = ['LICENSE', 'scripts/process-options.json'];
/** Members of package.json that say something to whoever runs the program. */
const MANIFEST = ['name', 'version', 'description', 'license', 'type', 'engines', 'bin', 'dependencies'];

/**
 * @param parts `work` (an empty folder to build in), `production`, `native` (entries), `release`
 * @returns entries by their names in the folder of the package; without the bill of materials
 */
export async function packageEntries({ work, production, native, release, log }) {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  await buildProgram(work, { log });
  return [
    ...folderEntries(work, 'dist'),
    ...FOLDERS.filter((folder) => existsSync(path.join(root, folder))).flatMap((folder) => folderEntries(path.join(root, folder), folder)),
    ...FILES.map((name) => ({ name, from: path.join(root, name) })),
    ...productionEntries(production, PINS.node),
    ...native,
    { name: 'package.json', contents: text(manifest()) },
    { name: 'build.json', contents: text(buildWords(release)) },
  ];
}

export function folderEntries(folder, name) {
  return filesOf(folder).map((file) => ({ name: `${name}/${file}`, from: path.join(folder, file), program: name === 'bin' }));
}

function manifest() {
  const own = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  return Object.fromEntries(MANIFEST.map((member) => [member, own[member]]));
}

/** What a person asks of a box: which version, of which commit, for which Node. */
function buildWords({ version, commit, changes, epochS }) {
  return { version, commit, changed: changes, at: new Date(epochS * 1000).toISOString(), node: PINS.node.version, abi: PINS.node.abi, platform: 'linux-x64' };
}

function text(value) {
  return `${JSON.stringify(value, null, 2)}\n`;
}
