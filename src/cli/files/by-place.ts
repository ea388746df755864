/** Findings as a person goes through the files: file by file in the order in which they were read, each from top to bottom. */
import type { FileFault } from './manifest-files.js';

export function byPlace<Fault extends FileFault>(faults: readonly Fault[], files: readonly string[]): readonly Fault[] {
  const rank = new Map(files.map((file, at) => [file, at]));
  const rankOf = ({ file }: Fault): number => rank.get(file) ?? files.length;
  return faults.toSorted((a, b) => rankOf(a) - rankOf(b) || a.line - b.line || a.column - b.column);
}
