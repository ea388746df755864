/** import mtp: a module type package becomes a unit with its I/O module, services and tags. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ApiError } from '../../client/api.js';
import type { Answered } from '../../client/typed.js';
import { type CommandContext, type CommandRow, textOf } from './command.js';
import { CommandError, EXIT, type Outcome, section, usage } from './outcome.js';

type Imported = Answered<'/api/v1/import/mtp', 'post'>;
type Row = Imported['report'][number];

/** The worst first. */
const SEVERITIES = ['error', 'warning', 'info'] as const;
const TITLES: Readonly<Record<Row['severity'], string>> = { error: 'not imported:', warning: 'imported, and to be looked at:', info: 'to be known:' };

async function importMtp(context: CommandContext): Promise<Outcome> {
  const { box, args, options } = context;
  const [file = ''] = args;
  const name = textOf(options, 'name');
  if (name === undefined) throw usage('--name is missing: the unit that the module becomes, such as --name dosing');
  const ioModule = textOf(options, 'ioModule');
  const content = readFileSync(file).toString('base64');
  const body = { site: await box.site(), name, fileName: path.basename(file), content, dryRun: options.apply !== true, ...(ioModule === undefined ? {} : { ioModule }) };
  const imported = await box.typed.post('/api/v1/import/mtp', { body }).catch((fault: unknown) => {
    throw unreadable(fault, file) ?? fault;
  });
  return { data: imported, text: textOfImport(imported, name), ...(imported.report.some(({ severity }) => severity === 'error') ? { exitCode: EXIT.no } : {}) };
}

/** What could not be read, with all that was told until then. */
function unreadable(fault: unknown, file: string): CommandError | undefined {
  if (!(fault instanceof ApiError) || fault.code !== 'package_unreadable') return undefined;
  const report = Array.isArray(fault.body.report) ? (fault.body.report as readonly Row[]) : [];
  const lines = report.length > 1 ? reportLines(report) : [];
  return new CommandError(EXIT.refused, fault.code, [`${file}: ${fault.message}`, ...lines].join('\n'), { status: fault.status, report });
}

function reportLines(report: readonly Row[]): readonly string[] {
  return SEVERITIES.flatMap((severity) =>
    section(
      TITLES[severity],
      report.filter((row) => row.severity === severity).map((row) => (row.path === '' ? row.message : `${row.path}: ${row.message}`)),
    ),
  );
}

function textOfImport({ dryRun, module, services, tags, created, report }: Imported, name: string): string {
  const kinds = [...new Set(created.map(({ kind }) => kind))];
  const count = (severity: Row['severity']): number => report.filter((row) => row.severity === severity).length;
  return [
    `${module.name} ${module.version}: unit ${name} ${dryRun ? 'would get' : 'has'} ${services.length} ${services.length === 1 ? 'service' : 'services'} and ${tags.length} tags; ${count('error')} parts are not imported, ${count('warning')} want a look`,
    ...section(
      'services:',
      services.map((service) => `${service.name}: ${service.procedures.map((procedure) => `${procedure.name} (${procedure.id})`).join(', ')}`),
    ),
    ...section(
      dryRun ? 'would be made:' : 'made:',
      kinds.map((kind) => `${kind} ${created.flatMap((each) => (each.kind === kind ? [each.name] : [])).join(', ')}`),
    ),
    ...reportLines(report),
    '',
    dryRun ? 'nothing is stored: --apply imports it' : `a new I/O module is disabled: look at its address and its security, then set enabled`,
  ].join('\n');
}

export const IMPORT_COMMANDS: readonly CommandRow[] = [
  {
    typed: 'import mtp <file>',
    about:
      'what a module type package (.mtp, .aml) would become, and what of it is not taken as it stands; with --apply it is imported. Exit code 1 where something is not imported',
    options: [
      ['--name <unit>', 'the unit that the module becomes; the names of its control modules begin with it'],
      ['--io-module <name>', 'I/O module that is made, or gets what it lacks; the name of the unit where it is left out'],
      ['--apply', 'import it'],
    ],
    examples: ['lineside import mtp dosing.mtp --name dosing --site north', 'lineside import mtp dosing.mtp --name dosing --site north --apply'],
    run: importMtp,
  },
];
