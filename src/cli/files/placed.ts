/** What is wrong with manifests, at the place in a file where it stands: of validate, apply and diff alike. */
import type { JudgedError } from './offline.js';
import type { FiledManifest, FileFault } from './manifest-files.js';
import { placeOfDiagnostic, placeOfField, placeOfRefused, placeOfTextLine, type TextDiagnostic } from './places.js';

/** By manifest, line and column; of a text that does not compile every line. */
export function placed(errors: readonly JudgedError[], manifests: readonly FiledManifest[]): readonly FileFault[] {
  return errors
    .flatMap((error) => placesOf(error, manifests[error.index]).map((fault) => ({ fault, at: error.index })))
    .toSorted((a, b) => a.at - b.at || a.fault.line - b.fault.line || a.fault.column - b.fault.column)
    .map(({ fault }) => fault);
}

function placesOf({ kind, name, code, error, field, diagnostics = [] }: JudgedError, manifest: FiledManifest | undefined): readonly FileFault[] {
  if (!manifest) return [];
  const title = [kind, name].filter((word) => word !== '').join(' ');
  const said = (message: string): string => (title === '' ? message : `${title}: ${message}`);
  const wrong = (diagnostics as readonly TextDiagnostic[]).filter(({ severity }) => severity !== 'warning');
  if (wrong.length > 0) return wrong.map((each) => ({ file: manifest.file, ...placeOfDiagnostic(manifest, each), code, message: said(`${placeWords(each)}${each.message}`) }));
  return [{ file: manifest.file, ...placeOfRefused(manifest, field), code, message: said(error) }];
}

function placeWords({ chart, step, transition }: TextDiagnostic): string {
  const words = [
    chart !== undefined && chart !== 'running' ? `chart ${chart}` : '',
    step === undefined ? '' : `step ${step}`,
    transition === undefined ? '' : `transition ${transition}`,
  ];
  const said = words.filter((word) => word !== '').join(', ');
  return said === '' ? '' : `${said}: `;
}

/** A warning that is about one member begins with it, and one about a text goes on with its line there. */
export function placedWarning(warning: string, manifest: FiledManifest): FileFault {
  const [, member = 'spec', line] = /^(spec\.[^\s:]+): (?:line (\d+), )?/.exec(warning) ?? [];
  const place = line === undefined ? placeOfField(manifest, member) : placeOfTextLine(manifest, member, Number(line));
  return { file: manifest.file, ...place, message: warning, code: 'warning' };
}

export function faultLine({ file, line, column, message, code }: FileFault): string {
  return `${file}:${line}:${column}: ${message} [${code}]`;
}
