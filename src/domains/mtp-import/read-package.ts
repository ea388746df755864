/** From the tree of a CAEX document to what the package says. Whatever is not understood is told by its path. */
import type { Element } from './caex.js';
import type { Assembly, Item, ModulePackage, PackageProcedure, PackageServer, PackageService, Variable } from './module-package.js';
import { plain, type Report, Unreadable } from './report.js';

interface Placed {
  readonly element: Element;
  readonly path: string;
  /** Last part of the class that it is of, `ServiceControl`. */
  readonly className: string;
  /** The whole class path. */
  readonly classPath: string;
}

const NAME_LENGTH_MAX = 200;

const nameOf = (element: Element): string => plain(element.attributes.get('Name') ?? '', NAME_LENGTH_MAX);

function placed(element: Element, around: string): Placed {
  const classPath = element.attributes.get('RefBaseSystemUnitPath') ?? element.attributes.get('RefBaseClassPath') ?? '';
  const path = around === '' ? nameOf(element) : `${around}/${nameOf(element)}`;
  return { element, path, className: classPath.slice(classPath.lastIndexOf('/') + 1), classPath };
}

function below({ element, path }: Pick<Placed, 'element' | 'path'>, tag: string): readonly Placed[] {
  return element.children.filter((child) => child.tag === tag).map((child) => placed(child, path));
}

const internals = (place: Pick<Placed, 'element' | 'path'>): readonly Placed[] => below(place, 'InternalElement');

/** All internal elements of a tree, the element itself first. */
function* everyInternal(place: Placed): Generator<Placed> {
  yield place;
  for (const child of internals(place)) yield* everyInternal(child);
}

interface Attribute {
  readonly name: string;
  readonly value: string;
  readonly dataType: string;
  readonly path: string;
}

function attributesOf({ element, path }: Placed): readonly Attribute[] {
  return element.children
    .filter((child) => child.tag === 'Attribute')
    .map((child) => {
      const valueOf = (tag: string): string | undefined => child.children.find((each) => each.tag === tag)?.text;
      const name = nameOf(child);
      return { name, value: valueOf('Value') ?? valueOf('DefaultValue') ?? '', dataType: child.attributes.get('AttributeDataType') ?? '', path: `${path}@${name}` };
    });
}

function valueOf(place: Placed, name: string): string {
  return attributesOf(place).find((attribute) => attribute.name === name)?.value ?? '';
}

const isTrue = (text: string): boolean => /^(true|1)$/i.test(text.trim());

/** @throws Unreadable where there is no module in it. */
export function readPackage(root: Element, fileName: string, report: Report): ModulePackage {
  const hierarchies = below({ element: root, path: '' }, 'InstanceHierarchy');
  const all = hierarchies.flatMap((hierarchy) => internals(hierarchy).flatMap((internal) => [...everyInternal(internal)]));
  const modules = all.filter(({ className }) => className === 'ModuleTypePackage');
  const [module, ...others] = modules;
  if (!module) throw new Unreadable(fileName, 'no element in it is of the class ModuleTypePackage, so it is no module type package (VDI/VDE/NAMUR 2658-1)');
  for (const other of others) report.add('error', other.path, 'a second module in the file: import it from a file of its own');
  const communication = internals(module).find(({ className }) => className === 'CommunicationSet');
  if (!communication) report.add('error', module.path, 'the package has no CommunicationSet, so there are no nodes to read');
  const understood = new Set<Element>([module.element]);
  if (communication) understood.add(communication.element);
  const lists = communication ? internals(communication) : [];
  const { servers, items } = readServers(lists, understood, report);
  const assemblies = readAssemblies(lists, items, understood, report);
  const services = readServices(all, indexOf(assemblies), understood, report);
  for (const item of unused(items, assemblies)) report.add('info', item.path, 'no element of the package stands on this node: it becomes no channel');
  tellRest(root, hierarchies, understood, report);
  const version = valueOf(module, 'Version') || (module.element.children.find(({ tag }) => tag === 'Version')?.text ?? '') || versionAbove(hierarchies, module);
  return { name: nameOf(module.element), version: plain(version, 60), path: module.path, servers, assemblies, services, report: report.rows };
}

function versionAbove(hierarchies: readonly Placed[], module: Placed): string {
  const around = hierarchies.find(({ element }) => element.children.includes(module.element));
  return around?.element.children.find(({ tag }) => tag === 'Version')?.text ?? '';
}

// ---------------------------------------------------------------- nodes

interface Servers {
  readonly servers: readonly PackageServer[];
  /** By ID in the file. */
  readonly items: ReadonlyMap<string, Item>;
}

function readServers(lists: readonly Placed[], understood: Set<Element>, report: Report): Servers {
  const servers: PackageServer[] = [];
  const items = new Map<string, Item>();
  for (const list of lists.filter(({ className }) => className === 'SourceList')) {
    understood.add(list.element);
    for (const server of internals(list)) {
      if (server.className !== 'OPCUAServer') continue;
      understood.add(server.element);
      servers.push({ name: nameOf(server.element), path: server.path, endpoint: plain(valueOf(server, 'Endpoint').trim(), NAME_LENGTH_MAX) });
      for (const source of below(server, 'ExternalInterface')) readItem(source, nameOf(server.element), items, report);
    }
  }
  return { servers, items };
}

function readItem(source: Placed, server: string, items: Map<string, Item>, report: Report): void {
  if (source.className !== 'OPCUAItem') return report.add('warning', source.path, `a source of class ${plain(source.classPath)} is not known: it is left out`);
  const id = source.element.attributes.get('ID') ?? '';
  if (items.has(id)) return report.add('error', source.path, `ID ${plain(id)} is used before: the node is left out`);
  const found = nodeIdOf(source);
  if ('fault' in found) return report.add('error', source.path, found.fault);
  const access = Number(valueOf(source, 'Access') || '0');
  const isKnown = Number.isInteger(access) && access > 0;
  if (!isKnown) report.add('warning', `${source.path}@Access`, 'the package does not say whether the node is read or written: it is read');
  items.set(id, { id, path: source.path, server, nodeId: found.nodeId, isReadable: !isKnown || (access & 1) !== 0, isWritable: isKnown && (access & 2) !== 0 });
}

const WHOLE_NODE_ID = /^(?<namespace>ns=\d{1,5};|nsu=[^;]+;)?(?<identifier>[isgb]=.+)$/su;
const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** `nsu=` and the identifier (OPC 10000-6, 5.3.1.10): the number of a namespace is an affair of the running server, its name is not. */
function nodeIdOf(source: Placed): { readonly nodeId: string } | { readonly fault: string } {
  const attribute = attributesOf(source).find(({ name }) => name === 'Identifier');
  const text = attribute?.value ?? '';
  if (text === '') return { fault: 'the node has no Identifier, so it cannot be read' };
  const whole = WHOLE_NODE_ID.exec(text)?.groups;
  const namespace = valueOf(source, 'Namespace').trim();
  if (namespace.includes(';')) return { fault: `the namespace ${plain(namespace)} has a semicolon, which no node id can carry` };
  const prefix = whole?.namespace ?? (namespace === '' ? '' : /^\d{1,5}$/.test(namespace) ? `ns=${namespace};` : `nsu=${namespace};`);
  if (prefix === '') return { fault: 'the node has no Namespace, so nobody can tell which one it is' };
  return { nodeId: `${prefix}${whole?.identifier ?? identifierOf(text, attribute?.dataType ?? '')}` };
}

function identifierOf(text: string, dataType: string): string {
  const word = dataType.replace(/^xs:/, '');
  if (/^(unsigned)?(int|integer|short|long|byte)$/i.test(word) && /^\d{1,10}$/.test(text)) return `i=${text}`;
  if (/base64/i.test(word)) return `b=${text}`;
  return /guid/i.test(word) && GUID.test(text) ? `g=${text}` : `s=${text}`;
}

function* unused(items: ReadonlyMap<string, Item>, assemblies: readonly Assembly[]): Generator<Item> {
  const used = new Set(assemblies.flatMap(({ variables }) => variables.flatMap(({ item }) => (item ? [item.id] : []))));
  for (const item of items.values()) if (!used.has(item.id)) yield item;
}

// ---------------------------------------------------------------- data assemblies

/** Attributes of an assembly that say what it is, and are no variables. */
const DESCRIBING = new Set(['TagName', 'TagDescription', 'RefID', 'RefId']);

function readAssemblies(lists: readonly Placed[], items: ReadonlyMap<string, Item>, understood: Set<Element>, report: Report): readonly Assembly[] {
  const assemblies: Assembly[] = [];
  const names = new Set<string>();
  /** By name, how many have it. */
  const counts = new Map<string, number>();
  for (const list of lists.filter(({ className }) => className === 'InstanceList')) {
    understood.add(list.element);
    for (const place of internals(list)) {
      if (!place.classPath.includes('DataAssembly')) continue;
      understood.add(place.element);
      const given = nameOf(place.element) || valueOf(place, 'TagName');
      const name = firstFree(given, names, counts);
      if (name !== given) report.add('warning', place.path, `another element has the name ${given}: this one is called ${name}`);
      names.add(name);
      const variables = attributesOf(place)
        .filter((attribute) => !DESCRIBING.has(attribute.name))
        .flatMap((attribute) => variableOf(attribute, items, report));
      assemblies.push({
        name,
        className: plain(place.className, 60),
        path: place.path,
        description: plain(valueOf(place, 'TagDescription'), 200),
        refId: refIdOf(place),
        variables,
      });
    }
  }
  return assemblies;
}

function firstFree(name: string, taken: ReadonlySet<string>, counts: Map<string, number>): string {
  let number = (counts.get(name) ?? 0) + 1;
  while (taken.has(number === 1 ? name : `${name}-${number}`)) number += 1;
  counts.set(name, number);
  return number === 1 ? name : `${name}-${number}`;
}

const refIdOf = (place: Placed): string => valueOf(place, 'RefID') || valueOf(place, 'RefId');

function variableOf({ name, value, dataType, path }: Attribute, items: ReadonlyMap<string, Item>, report: Report): readonly Variable[] {
  const item = value === '' ? undefined : items.get(value);
  if (item) return [{ name, path, item }];
  if (/IDREF/i.test(dataType) && value !== '') {
    report.add('error', path, `it stands on the node with ID ${plain(value)}, which the package does not have: it is left out`);
    return [];
  }
  return value === '' ? [] : [{ name, path, constant: plain(value, NAME_LENGTH_MAX) }];
}

// ---------------------------------------------------------------- services

interface AssemblyIndex {
  readonly all: readonly Assembly[];
  readonly byRefId: ReadonlyMap<string, Assembly>;
  readonly byName: ReadonlyMap<string, Assembly>;
}

/** The first of each RefID that is not empty. */
function indexOf(all: readonly Assembly[]): AssemblyIndex {
  const backwards = all.toReversed();
  return {
    all,
    byRefId: new Map(backwards.filter(({ refId }) => refId !== '').map((assembly) => [assembly.refId, assembly])),
    byName: new Map(backwards.map((assembly) => [assembly.name, assembly])),
  };
}

const PARAMETER_CLASSES = new Set(['ServiceParameter', 'ProcedureParameter', 'ConfigurationParameter', 'ProcessValueIn']);
const REPORT_CLASSES = new Set(['ReportValue', 'ProcessValueOut']);

function readServices(all: readonly Placed[], assemblies: AssemblyIndex, understood: Set<Element>, report: Report): readonly PackageService[] {
  const services: PackageService[] = [];
  const names = new Set<string>();
  for (const place of all) {
    if (place.className === 'ServiceSet') understood.add(place.element);
    if (place.className !== 'Service' || place.element.tag !== 'InternalElement') continue;
    understood.add(place.element);
    const name = nameOf(place.element);
    if (names.has(name)) {
      report.add('error', place.path, `a second service of the name ${name}: it is left out`);
      continue;
    }
    names.add(name);
    const members = internals(place);
    const procedures = members.flatMap((member) => procedureOf(member, assemblies, understood, report));
    const control = controlOf(place, assemblies, report);
    if (!control) report.add('error', place.path, 'the package has no ServiceControl of this service, so it cannot be commanded or looked at');
    services.push({
      name,
      path: place.path,
      control,
      procedures: uniqueIds(procedures, place.path, report),
      parameters: namedOf(place, PARAMETER_CLASSES, assemblies, understood, report),
    });
  }
  const served = new Set(services.map(({ control }) => control));
  for (const { name, path, className } of assemblies.all)
    if (className === 'ServiceControl' && !served.has(name)) report.add('warning', path, 'no service of the package is controlled by it: its nodes become channels only');
  return services;
}

/** By its RefID, else by its name: packages in the field have RefIDs that lead nowhere. */
function controlOf(place: Placed, assemblies: AssemblyIndex, report: Report): string | undefined {
  const refId = refIdOf(place);
  const byId = assemblies.byRefId.get(refId);
  if (byId?.className === 'ServiceControl') return byId.name;
  const byName = assemblies.byName.get(nameOf(place.element));
  if (byName?.className !== 'ServiceControl') return undefined;
  report.add('warning', `${place.path}@RefID`, `${plain(refId) || 'an empty RefID'} names no ServiceControl: the one of the same name is taken`);
  return byName.name;
}

function procedureOf(place: Placed, assemblies: AssemblyIndex, understood: Set<Element>, report: Report): readonly PackageProcedure[] {
  if (place.className !== 'ServiceProcedure') return [];
  understood.add(place.element);
  const text = valueOf(place, 'ProcedureID').trim();
  if (!/^\d{1,9}$/.test(text)) {
    report.add('error', `${place.path}@ProcedureID`, `${plain(text) || 'an empty text'} is no number of a procedure: it is left out`);
    return [];
  }
  return [
    {
      id: Number(text),
      name: nameOf(place.element),
      isDefault: isTrue(valueOf(place, 'IsDefault')),
      isSelfCompleting: isTrue(valueOf(place, 'IsSelfCompleting')),
      parameters: namedOf(place, PARAMETER_CLASSES, assemblies, understood, report),
      reportValues: namedOf(place, REPORT_CLASSES, assemblies, understood, report),
    },
  ];
}

function uniqueIds(procedures: readonly PackageProcedure[], path: string, report: Report): readonly PackageProcedure[] {
  const ids = new Set<number>();
  return procedures.filter(({ id, name }) => {
    if (ids.has(id)) report.add('error', `${path}/${name}@ProcedureID`, `another procedure of the service has the number ${id}: it is left out`);
    return ids.has(id) ? false : ids.add(id);
  });
}

/** Names of the assemblies that members of some classes refer to. */
function namedOf(place: Placed, classes: ReadonlySet<string>, assemblies: AssemblyIndex, understood: Set<Element>, report: Report): readonly string[] {
  return internals(place)
    .filter(({ className }) => classes.has(className))
    .flatMap((member) => {
      understood.add(member.element);
      const found = assemblies.byRefId.get(refIdOf(member)) ?? assemblies.byName.get(nameOf(member.element));
      if (!found) report.add('warning', member.path, 'no element of the package has its value: it is left out');
      return found ? [found.name] : [];
    });
}

// ---------------------------------------------------------------- the rest

/** Of what is not understood the highest element is told, with how many are below it. */
function tellRest(root: Element, hierarchies: readonly Placed[], understood: ReadonlySet<Element>, report: Report): void {
  for (const hierarchy of hierarchies) for (const internal of internals(hierarchy)) tellUnknown(internal, understood, report);
  for (const child of root.children) {
    if (child.tag === 'ExternalReference') report.add('warning', plain(child.attributes.get('Path') ?? ''), 'another file that this one refers to: it is not opened');
    else if (child.tag.endsWith('Lib')) report.add('info', nameOf(child), `a library of classes (${child.tag}): classes are known by their names`);
  }
}

function tellUnknown(place: Placed, understood: ReadonlySet<Element>, report: Report): void {
  const inside = [...everyInternal(place)];
  if (inside.some(({ element }) => understood.has(element))) {
    if (!understood.has(place.element))
      report.add('warning', place.path, `an element of class ${plain(place.classPath) || '(none)'} is not known: what it holds is looked at all the same`);
    for (const child of internals(place)) tellUnknown(child, understood, report);
    return;
  }
  const more = inside.length === 1 ? '' : `, with ${inside.length - 1} elements in it`;
  report.add('info', place.path, `class ${plain(place.classPath) || '(none)'} is not imported${more}`);
}
