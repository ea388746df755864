/**
 * What an import makes of a package: manifests as a person would write them. Pure but for reading. What exists stays as it is and is told; an
 * I/O module that is named and exists gets the channels and services that it does not have.
 */
import { checkAddress } from '../../../runtime/catalog.js';
import type { Clock } from '../../platform/base/clock.js';
import { invalid, type Refusal } from '../../platform/base/refusal.js';
import { isResourceName } from '../../platform/base/resource-name.js';
import { Turns } from '../../platform/base/slices.js';
import type { Kind, StoreReader } from '../../platform/store/kind.js';
import { apiVersionOf } from '../../platform/store/manifest.js';
import type { Resource } from '../../platform/store/resource.js';
import { ControlModule, ControlModuleTemplate } from '../control-modules/kind.js';
import { IOModule, type IOModuleSpec, type Service } from '../io-modules/kind.js';
import { isCommandWord, isServiceVariable } from '../io-modules/service-words.js';
import { Unit } from '../plant/kind.js';
import { type ChannelPlan, MODULE_PROTOCOL, type PlannedVariable, planChannels } from './channel-plan.js';
import { type PlannedTag, tagOf } from './element-tags.js';
import type { Assembly, ModulePackage, PackageService } from './module-package.js';
import { Report, type ReportRow } from './report.js';
import { deviceClassOf } from './variables.js';

export interface ImportWish {
  readonly site: string;
  /** Of the unit that the module becomes. */
  readonly name: string;
  /** Of the I/O module. */
  readonly ioModule: string;
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: unknown;
}

export interface ImportPlan {
  readonly manifests: readonly Manifest[];
  /** `<controlModule>.<tag>`, in the order of the file. */
  readonly tags: readonly string[];
  readonly services: readonly { readonly name: string; readonly procedures: readonly { readonly id: number; readonly name: string }[] }[];
  readonly report: readonly ReportRow[];
  /** Whether everything that the plan rests on is still as it was. */
  isTrueOf(read: StoreReader): boolean;
}

/** In slices: a package of two thousand elements takes a quarter of a second, and everybody else is served meanwhile. */
export async function planImport(module: ModulePackage, wish: ImportWish, read: StoreReader, clock: Clock): Promise<ImportPlan> {
  const turns = new Turns(clock);
  const { site, name, ioModule } = wish;
  const report = new Report();
  report.addAll(module.report);
  const seen: ((now: StoreReader) => boolean)[] = [];
  const look = <Spec, Status>(kind: Kind<Spec, Status>, at: string, named: string): Resource<Spec, Status> | undefined => {
    const found = read.get(kind, at, named);
    seen.push((now) => now.get(kind, at, named) === found);
    return found;
  };
  const there = look(IOModule, site, ioModule);
  const protocol = there?.spec.protocol ?? MODULE_PROTOCOL;
  const server = chosenServer(module, report);
  const channels = await planChannels(module, { protocol, server: server?.name ?? '', present: there?.spec.channels ?? [] }, report, turns);
  const services: Service[] = [];
  for (const service of module.services) {
    if (turns.isOver) await turns.next();
    services.push(...serviceOf(service, channels, there?.spec, report));
  }
  const manifests: Manifest[] = [];
  const inSite = (kind: Pick<Kind, 'kind' | 'group'>, named: string, spec: unknown): void =>
    void manifests.push({ apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: { name: named, namespace: `site-${site}` }, spec });
  if (look(Unit, site, name)) report.add('info', module.path, `unit ${name} exists: it is used as it is`);
  else {
    inSite(Unit, name, { description: about(module) });
    report.add('warning', module.path, `unit ${name} is made without a process cell, so it is not executed yet: set its processCellName`);
  }

  const moduleSpec = ioModuleSpec(module, there, channels, services, server?.endpoint ?? '', { ioModule, report });
  if (moduleSpec) inSite(IOModule, ioModule, moduleSpec);

  const tags: string[] = [];
  const names = new Names(name);
  const templates = new Set<string>();
  for (const [assembly, variables] of byAssembly(module, channels)) {
    if (turns.isOver) await turns.next();
    const made = elementTags(assembly, variables, ioModule, report);
    if (made.length === 0) continue;
    const named = names.of(assembly.name);
    if (named === undefined) {
      report.add('error', assembly.path, 'no name of a control module can be made of its name: its channels have no tags');
      continue;
    }
    if (look(ControlModule, site, named)) {
      report.add('warning', assembly.path, `control module ${named} exists: it is not overwritten`);
      continue;
    }
    const template = templateName(assembly.className);
    if (!templates.has(template)) {
      templates.add(template);
      if (look(ControlModuleTemplate, '', template)) report.add('info', assembly.path, `template ${template} exists: it is used as it is`);
      else
        manifests.push({
          apiVersion: apiVersionOf(ControlModuleTemplate),
          kind: ControlModuleTemplate.kind,
          metadata: { name: template },
          spec: templateSpec(assembly.className),
        });
    }
    inSite(ControlModule, named, { parentName: name, templateRef: template, description: assembly.description, tags: made });
    tags.push(...made.map((tag) => `${named}.${tag.name}`));
  }
  return {
    manifests,
    tags,
    services: services.map((service) => ({ name: service.name, procedures: service.procedures.map(({ id, name: procedure }) => ({ id, name: procedure })) })),
    report: report.rows,
    isTrueOf: (now) => seen.every((isAsSeen) => isAsSeen(now)),
  };
}

const about = ({ name, version }: ModulePackage): string => (version === '' ? `process module ${name}` : `process module ${name}, version ${version}`);

// ---------------------------------------------------------------- I/O module

function chosenServer({ servers, path }: ModulePackage, report: Report): ModulePackage['servers'][number] | undefined {
  const [first, ...others] = servers;
  if (!first) report.add('error', path, 'the package has no OPC UA server: there is nothing to connect to');
  for (const other of others) report.add('error', other.path, `a second server: an I/O module has one, ${first?.name ?? ''}; what stands on this one is left out`);
  return first;
}

interface ModuleWish {
  readonly ioModule: string;
  readonly report: Report;
}

/** Undefined where nothing of it is new. */
function ioModuleSpec(
  module: ModulePackage,
  there: Resource<IOModuleSpec> | undefined,
  { added }: ChannelPlan,
  services: readonly Service[],
  endpoint: string,
  { ioModule, report }: ModuleWish,
): unknown {
  const { path } = module;
  if (there) {
    if (there.spec.protocol === MODULE_PROTOCOL && endpoint !== '' && normal(endpoint) !== normal(there.spec.address))
      report.add('warning', `${path}@Endpoint`, `the package names ${endpoint}; I/O module ${ioModule} keeps its address ${there.spec.address}`);
    if (added.length === 0 && services.length === 0) return undefined;
    report.add('info', path, `I/O module ${ioModule} exists: it gets ${added.length} channels and ${services.length} services beside those it has`);
    return { ...there.spec, channels: [...there.spec.channels, ...added], services: [...(there.spec.services ?? []), ...services] };
  }
  const checked = checkAddress(MODULE_PROTOCOL, endpoint);
  if ('error' in checked) throw unusableEndpoint(`${path}@Endpoint`, checked.error, report);
  report.add('warning', path, `I/O module ${ioModule} is made without a connection: look at its address ${endpoint} and its security, then set enabled`);
  return { protocol: MODULE_PROTOCOL, address: endpoint, enabled: false, channels: added, ...(services.length > 0 ? { services } : {}), description: about(module) };
}

function unusableEndpoint(path: string, error: string, report: Report): Refusal {
  const message = `the address of the server of the package cannot be used: ${error}; make the I/O module first and name it as ioModule`;
  report.add('error', path, message);
  return invalid('package_unreadable', 'content', message, { report: report.rows });
}

function normal(endpoint: string): string {
  const checked = checkAddress(MODULE_PROTOCOL, endpoint);
  return 'normalized' in checked ? checked.normalized : endpoint;
}

// ---------------------------------------------------------------- services

const NEEDED = ['StateCur', 'CommandEn'] as const;

function serviceOf(
  { name, path, control, procedures, parameters }: PackageService,
  { variables: planned }: ChannelPlan,
  there: IOModuleSpec | undefined,
  report: Report,
): readonly Service[] {
  if (control === undefined) return [];
  if (there?.services?.some((service) => service.name === name)) {
    report.add('warning', path, `the I/O module has a service ${name}: it is not overwritten`);
    return [];
  }
  if (name === '' || name.includes('/')) {
    report.add('error', path, 'a name of a service has characters, and no slash among them: a chart names it as <ioModule>/<service>; it is left out');
    return [];
  }
  const own = planned.filter(({ assembly, variable }) => assembly.name === control && isServiceVariable(variable.name));
  const found = new Set<string>(own.map(({ variable }) => variable.name));
  const missing = NEEDED.filter((variable) => !found.has(variable));
  if (missing.length > 0) report.add('warning', path, `the service has no node for ${missing.join(' and ')}: no command goes to it`);
  const unsaid = procedures.length === 0;
  if (unsaid) report.add('warning', path, 'the service has no procedure');
  return [
    {
      name,
      variables: Object.fromEntries(own.map(({ variable, channel }) => [variable.name, channel.name || channel.address])),
      procedures: procedures.map((procedure) => ({ ...procedure, parameters: [...procedure.parameters], reportValues: [...procedure.reportValues] })),
      parameters: [...parameters],
    },
  ];
}

// ---------------------------------------------------------------- control modules

function byAssembly({ assemblies }: ModulePackage, { variables }: ChannelPlan): ReadonlyMap<Assembly, readonly PlannedVariable[]> {
  const found = new Map<Assembly, PlannedVariable[]>(assemblies.map((assembly) => [assembly, []]));
  for (const planned of variables) found.get(planned.assembly)?.push(planned);
  return found;
}

function elementTags(assembly: Assembly, variables: readonly PlannedVariable[], ioModule: string, report: Report): readonly PlannedTag[] {
  const tags: PlannedTag[] = [];
  for (const planned of variables) {
    if (assembly.className === 'ServiceControl' && isCommandWord(planned.variable.name)) continue; // MTP_COMMAND writes them, and nobody past it
    const tag = tagOf(planned, ioModule, report);
    if (tag) tags.push(tag);
  }
  if (variables.length === 0) report.add('info', assembly.path, 'no variable of it stands on a node: it becomes no control module');
  return tags;
}

function templateName(className: string): string {
  return `mtp-${slug(className) || 'element'}`.slice(0, NAME_LENGTH_MAX);
}

function templateSpec(className: string): unknown {
  return {
    moduleType: className,
    deviceClass: deviceClassOf(className),
    description: `Element of class ${className} of a process module (VDI/VDE/NAMUR 2658); its tags stand in its modules.`,
  };
}

const NAME_LENGTH_MAX = 63;
/** `-99999` */
const NUMBER_LENGTH_MAX = 6;

function slug(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
}

/** Names of control modules, each once: the site has one room for all of them, so the unit stands before each. */
class Names {
  readonly #unit: string;
  readonly #taken = new Set<string>();
  /** How often a name was asked for. */
  readonly #counts = new Map<string, number>();

  constructor(unit: string) {
    this.#unit = unit;
  }

  of(text: string): string | undefined {
    const own = slug(text);
    if (own === '') return undefined;
    const base = `${this.#unit}-${own}`.slice(0, NAME_LENGTH_MAX - NUMBER_LENGTH_MAX).replace(/-+$/, '');
    let count = (this.#counts.get(base) ?? 0) + 1;
    while (this.#taken.has(count === 1 ? base : `${base}-${count}`)) count += 1;
    this.#counts.set(base, count);
    const name = count === 1 ? base : `${base}-${count}`;
    this.#taken.add(name);
    return isResourceName(name) ? name : undefined;
  }
}
