// What the machine of the builder may have left in the files of the package: its folders and its registry. The packed bytes are searched, native modules included.
import { homedir } from 'node:os';
import path from 'node:path';
import { ran, root } from './facts.mjs';
import { contentsOf } from './tar.mjs';

/** @returns each file that names a folder of this machine or the registry it installs from, in words. */
export function tracesOf(entries) {
  const folders = [root, path.dirname(root), homedir()].filter((folder) => folder.split('/').length > 2).map((folder) => `${folder}/`);
  const registry = new URL(ran('npm', ['config', 'get', 'registry'], { cwd: root }).trim()).host;
  return entries.flatMap((entry) => {
    const bytes = contentsOf(entry);
    // what came of the registry has been compared with its hash, and may name where its authors publish it
    const words = isAsPublished(entry.name) ? folders : [...folders, registry];
    return words.filter((word) => bytes.includes(word)).map((word) => `${entry.name}: ${word}`);
  });
}

function isAsPublished(name) {
  return name.startsWith('node_modules/') && !name.endsWith('.node');
}
