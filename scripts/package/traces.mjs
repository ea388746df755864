// What the machine of the builder may have left in the files of the package: its folders and its registry. The packed bytes are searched, native modules included.
import { homedir } from 'node:os';
import path from 'node:path';
import { ran, root } from './facts.mjs';
import { contentsOf } from './tar.mjs';

/** @returns each file that names a folder of this machine or the registry it installs from, in words. */
export function tracesOf(entries) {
  const words = traces();
  return entries.flatMap((entry) => {
    const bytes = contentsOf(entry);
    return words.filter((word) => bytes.includes(word)).map((word) => `${entry.name}: ${word}`);
  });
}

/** The public registry is what packages themselves name in their pages; any other one is this machine's. */
function traces() {
  const registry = new URL(ran('npm', ['config', 'get', 'registry'], { cwd: root }).trim()).host;
  const folders = [root, path.dirname(root), homedir()].filter((folder) => folder.split('/').length > 2);
  return [...folders.map((folder) => `${folder}/`), ...(registry === 'registry.npmjs.org' ? [] : [registry])];
}
