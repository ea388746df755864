/**
 * Every tag of the plant, as its engineering describes it: control modules merged with their templates, and the variables
 * of control programs (contract 2, Tag descriptor; decisions Q-TAG-03, Q-TAG-04, Q-TAG-10, Q-TAG-11). It is built from the
 * store and not from the running units, so that tags can be listed while a unit runtime is away.
 *
 * Handles: a direct device tag (a channel without a block) is addressed by `<ioModule>:<channel>`; everything a network
 * computes, and every stored value, by `<controlModule>.<tag>` or `<program>.<variable>`. The path in the second form
 * always names the tag too.
 */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { type DataType, iecType, TAG_TYPES, tagType } from '../../../runtime/vocabulary/data-types.js';
import type { Mode } from '../../../runtime/vocabulary/modes.js';
import type { ToldBy } from '../../platform/http/replies.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Store, StoreEvent } from '../../platform/store/store.js';
import { faultTagsOf } from '../control-modules/device-faults.js';
import { ControlModule, type ControlModuleSpec, type ControlModuleStatus, ControlModuleTemplate, EQUIPMENT_MODULE_LABEL } from '../control-modules/kind.js';
import { initialOf } from '../control-modules/initial-value.js';
import { readableTags } from '../control-modules/merge.js';
import { modeOf, resolvedModuleOf } from '../control-modules/modules.js';
import { ControlProgram, type ControlProgramSpec, type ControlProgramStatus, FunctionBlockType, ownerOfProgram } from '../logic/kind.js';
import { Unit } from '../plant/kind.js';
import { unitOf } from '../plant/unit-of.js';

/** As served; extras per D-TAG-01. */
export const TagDescriptor = v.strictObject({
  name: v.string(),
  address: v.string(),
  dataType: v.picklist(TAG_TYPES),
  accessLevel: v.picklist(['read', 'readwrite']),
  controlModule: v.string(),
  moduleType: v.string(),
  unit: v.string(),
  equipmentModule: v.string(),
  engUnits: v.string(),
  engMin: v.string(),
  engMax: v.string(),
  role: v.string(),
  trueLabel: v.string(),
  falseLabel: v.string(),
  /** Greatest age of the sample behind it (ADR 0070); absent: none is declared. */
  maxAge: v.exactOptional(v.string()),
  /** TRUE in it is the latched fault of a device, which `reset-fault` of its module resets, whatever the tag is called. */
  deviceFault: v.exactOptional(v.literal(true)),
  /** What it has until somebody writes it; absent: none is declared, or nobody can write it. */
  initialValue: v.exactOptional(v.union([v.number(), v.boolean()])),
});
export type TagDescriptor = ToldBy<typeof TagDescriptor>;

nameSchemas({ TagDescriptor });

export interface TagEntry {
  readonly descriptor: TagDescriptor;
  /** The descriptor as JSON text without its closing brace, for live values to be appended. */
  readonly openJson: string;
  readonly site: string;
  /** `<controlModule>.<tag>` or `<program>.<variable>`: the address the unit runtime knows. */
  readonly path: string;
  readonly type: DataType;
  readonly min: number | undefined;
  readonly max: number | undefined;
}

/** What one module or program brings into its unit; described when somebody asks for it. */
class Owner {
  readonly unit: string;
  /** Of a control module; '' of a program. */
  readonly module: string;
  readonly #describe: () => readonly TagEntry[];
  #entries: readonly TagEntry[] | undefined;

  constructor(unit: string, module: string, describe: () => readonly TagEntry[]) {
    this.unit = unit;
    this.module = module;
    this.#describe = describe;
  }

  /** Sorted by address. */
  get entries(): readonly TagEntry[] {
    return (this.#entries ??= this.#describe());
  }
}

const NONE: readonly TagEntry[] = [];

export class TagCatalog {
  readonly #read: StoreReader;
  readonly #sites = new Map<string, SiteTags>();
  /** By the module or program as it is: what has not changed is not described again. */
  #owners = new WeakMap<object, Owner>();

  constructor(store: Store) {
    this.#read = store;
    const changed = ({ resource, configuration }: StoreEvent): void => {
      if (configuration) this.#sites.delete(resource.metadata.site);
    };
    for (const kind of [Unit, ControlModule]) store.watch(kind, changed);
    // one that is derived from a module has no tags of its own
    store.watch(ControlProgram, (event) => {
      if (ownerOfProgram(event.resource.metadata) === undefined) changed(event);
    });
    for (const kind of [ControlModuleTemplate, FunctionBlockType]) store.watch(kind, () => this.#forgetAll()); // they serve every site
    store.watchReload(() => this.#forgetAll());
  }

  ofSite(site: string): readonly TagEntry[] {
    return this.#of(site).all;
  }

  ofUnit(site: string, unit: string): readonly TagEntry[] {
    return this.#of(site).unit(unit)?.all ?? NONE;
  }

  ofModule(site: string, module: string): readonly TagEntry[] {
    return this.#of(site).module(module);
  }

  /** By handle, or by path. */
  find(site: string, unit: string, address: string): TagEntry | undefined {
    return this.#of(site).unit(unit)?.byAddress.get(address);
  }

  #forgetAll(): void {
    this.#sites.clear();
    this.#owners = new WeakMap();
  }

  #of(site: string): SiteTags {
    let tags = this.#sites.get(site);
    if (!tags) this.#sites.set(site, (tags = new SiteTags([...this.#modules(site), ...this.#programs(site)])));
    return tags;
  }

  *#modules(site: string): Iterable<Owner> {
    for (const module of this.#read.list(ControlModule, site)) {
      const unit = unitOf(this.#read, site, module.spec);
      const known = this.#owners.get(module);
      if (known?.unit === unit) {
        yield known;
        continue;
      }
      const owner = new Owner(unit, module.metadata.name, () => moduleEntries(this.#read, module, unit));
      this.#owners.set(module, owner);
      yield owner;
    }
  }

  *#programs(site: string): Iterable<Owner> {
    for (const program of this.#read.list(ControlProgram, site)) {
      if (ownerOfProgram(program.metadata) !== undefined) continue;
      let owner = this.#owners.get(program);
      if (!owner) this.#owners.set(program, (owner = new Owner(program.spec.unitRef, '', () => programEntries(program))));
      yield owner;
    }
  }
}

/** Of one state of a site. What is sorted or found by address is so when it is first asked for, and of the unit that is asked for. */
class SiteTags {
  readonly #owners: readonly Owner[];
  readonly #units = new Map<string, UnitTags>();
  readonly #modules = new Map<string, Owner>();
  #all: readonly TagEntry[] | undefined;

  constructor(owners: readonly Owner[]) {
    this.#owners = owners;
    for (const owner of owners) {
      let tags = this.#units.get(owner.unit);
      if (!tags) this.#units.set(owner.unit, (tags = new UnitTags()));
      tags.add(owner);
      if (owner.module !== '') this.#modules.set(owner.module, owner);
    }
  }

  /** Sorted by address. */
  get all(): readonly TagEntry[] {
    return (this.#all ??= this.#owners.flatMap(({ entries }) => entries).sort(byAddress));
  }

  unit(name: string): UnitTags | undefined {
    return this.#units.get(name);
  }

  module(name: string): readonly TagEntry[] {
    return this.#modules.get(name)?.entries ?? NONE;
  }
}

class UnitTags {
  readonly #owners: Owner[] = [];
  #all: readonly TagEntry[] | undefined;
  #byAddress: ReadonlyMap<string, TagEntry> | undefined;

  add(owner: Owner): void {
    this.#owners.push(owner);
  }

  /** Sorted by address. */
  get all(): readonly TagEntry[] {
    return (this.#all ??= this.#owners.flatMap(({ entries }) => entries).sort(byAddress));
  }

  /** By handle and by path. */
  get byAddress(): ReadonlyMap<string, TagEntry> {
    return (this.#byAddress ??= addressesOf(this.all));
  }
}

function addressesOf(entries: readonly TagEntry[]): ReadonlyMap<string, TagEntry> {
  const addresses = new Map<string, TagEntry>();
  for (const entry of entries) {
    // two tags on one channel share its handle: the first by path answers, the other is reached by its path
    if (!addresses.has(entry.descriptor.address)) addresses.set(entry.descriptor.address, entry);
    addresses.set(entry.path, entry);
  }
  return addresses;
}

function byAddress(a: TagEntry, b: TagEntry): number {
  return compare(a.descriptor.address, b.descriptor.address) || compare(a.path, b.path);
}

function moduleEntries(read: StoreReader, module: Resource<ControlModuleSpec, ControlModuleStatus>, unit: string): readonly TagEntry[] {
  const resolved = resolvedModuleOf(read, module);
  if (!resolved) return NONE;
  const { name, labels, site } = module.metadata;
  const faults = faultTagsOf(read, module);
  const entries = readableTags(resolved).map((tag) => {
    const path = `${name}.${tag.name}`;
    const initialValue = initialOf(resolved, tag);
    return entryOf({
      site,
      path,
      type: tag.type,
      min: tag.min,
      max: tag.max,
      descriptor: {
        name: tag.name,
        address: tag.channel !== '' && tag.blockRef === '' ? tag.channel : path,
        dataType: tagType(tag.dataType) ?? 'Float',
        accessLevel: tag.accessLevel,
        controlModule: name,
        moduleType: resolved.moduleType,
        unit,
        equipmentModule: labels[EQUIPMENT_MODULE_LABEL] ?? '',
        engUnits: tag.engUnits,
        engMin: boundText(tag.min),
        engMax: boundText(tag.max),
        role: tag.role,
        trueLabel: tag.trueLabel,
        falseLabel: tag.falseLabel,
        ...(tag.maxAge ? { maxAge: tag.maxAge } : {}),
        ...(faults.includes(tag.name) ? { deviceFault: true } : {}),
        ...(initialValue === undefined ? {} : { initialValue }),
      },
    });
  });
  return entries.sort(byAddress);
}

/** Outputs and locals can be read, an input without a source can be written (decisions 1.6). */
function programEntries({ metadata, spec }: Resource<ControlProgramSpec, ControlProgramStatus>): readonly TagEntry[] {
  return spec.variables
    .filter(({ direction, source }) => direction !== 'input' || !source)
    .map((variable) => {
      const path = `${metadata.name}.${variable.name}`;
      return entryOf({
        site: metadata.site,
        path,
        type: iecType(variable.dataType) ?? 'REAL',
        min: undefined,
        max: undefined,
        descriptor: {
          name: variable.name,
          address: path,
          dataType: tagType(variable.dataType) ?? 'Float',
          accessLevel: variable.direction === 'input' ? 'readwrite' : 'read',
          controlModule: '',
          moduleType: '',
          unit: spec.unitRef,
          equipmentModule: '',
          engUnits: '',
          engMin: '',
          engMax: '',
          role: '',
          trueLabel: '',
          falseLabel: '',
        },
      });
    });
}

function entryOf(entry: Omit<TagEntry, 'openJson'>): TagEntry {
  return { ...entry, openJson: JSON.stringify(entry.descriptor).slice(0, -1) };
}

function boundText(bound: number | undefined): string {
  return bound === undefined ? '' : String(bound);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Undefined for a name that is no control module. */
export function moduleMode(read: StoreReader, site: string, module: string): Mode | undefined {
  const resource = read.get(ControlModule, site, module);
  return resource && modeOf(resource);
}
