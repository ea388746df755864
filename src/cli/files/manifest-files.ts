/** The manifests in files and folders, each with the place where it stands. */
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { kindOf } from '../../platform/base/plain-file.js';
import { type Place, type ReadDocument, readDocuments, YamlFault } from '../../platform/base/yaml.js';
import { CommandError, EXIT } from '../remote/outcome.js';

export interface FiledManifest extends ReadDocument {
  /** As it was named on the command line, or found below it; `-` for standard input. */
  readonly file: string;
  /** Of the file. */
  readonly lines: readonly string[];
  /** Of one in an array: its place there. */
  readonly index?: number;
}

/** What is wrong, as an editor and a person take it: `file:line:column`. */
export interface FileFault extends Place {
  readonly file: string;
  readonly message: string;
  readonly code: string;
}

export interface ReadFiles {
  readonly manifests: readonly FiledManifest[];
  readonly faults: readonly FileFault[];
  readonly files: readonly string[];
}

const IS_MANIFEST = /\.(ya?ml|json)$/i;
/** What `lineside schemas` writes, and settings of an editor. */
const IS_NONE = /\.schema\.json$/i;

/** @throws CommandError for a path that there is not. */
export function readManifestFiles(paths: readonly string[], stdin?: string): ReadFiles {
  const faults: FileFault[] = [];
  const files = paths.flatMap((named) => (named === '-' ? [named] : filesBelow(named)));
  const manifests = files.flatMap((file) => {
    try {
      const text = file === '-' ? (stdin ?? '') : textOf(file);
      const lines = text.split('\n');
      return readDocuments(text).map((read): FiledManifest => ({ ...read, file, lines }));
    } catch (fault) {
      if (!(fault instanceof YamlFault)) throw fault;
      faults.push({ file, line: fault.line, column: fault.column, message: fault.message, code: 'invalid_yaml' });
      return [];
    }
  });
  return { manifests: manifests.flatMap(apart), faults, files };
}

/** A document may hold an array of manifests, as an export of the box does. */
function apart(manifest: FiledManifest): readonly FiledManifest[] {
  const { value } = manifest;
  if (!Array.isArray(value)) return [manifest];
  return value.map((each: unknown, index) => ({ ...manifest, value: each, index }));
}

function textOf(file: string): string {
  const text = readFileSync(file, 'utf8');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** Links are followed: what stands behind one belongs to the plant as the rest does. A folder that holds itself is entered once. */
function filesBelow(named: string, above: readonly string[] = []): readonly string[] {
  const stat = statSync(named, { throwIfNoEntry: false });
  if (!stat) throw new CommandError(EXIT.usage, 'no_such_file', `${named} does not exist`, { file: named });
  if (!stat.isDirectory()) return [named];
  const real = realpathSync(named);
  if (above.includes(real)) return [];
  return readdirSync(named)
    .filter((name) => !name.startsWith('.') && name !== 'node_modules')
    .sort()
    .flatMap((name) => {
      const inner = path.join(named, name);
      const within = statSync(inner, { throwIfNoEntry: false });
      if (within?.isDirectory()) return filesBelow(inner, [...above, real]);
      if (!IS_MANIFEST.test(name) || IS_NONE.test(name)) return [];
      if (within?.isFile() === false) throw new CommandError(EXIT.usage, 'file_unusable', `${inner} is a ${kindOf(within)}, and a file has to stand there`, { file: inner });
      return [inner];
    });
}
