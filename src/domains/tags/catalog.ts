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
import type { Store } from '../../platform/store/store.js';
import { ControlModule, ControlModuleTemplate, EQUIPMENT_MODULE_LABEL } from '../control-modules/kind.js';
import { readableTags } from '../control-modules/merge.js';
import { modeOf, resolvedModuleOf } from '../control-modules/modules.js';
import { ControlProgram, FunctionBlockType, ownerOfProgram } from '../logic/kind.js';
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

interface SiteTags {
  /** Sorted by address. */
  readonly all: readonly TagEntry[];
  readonly byUnit: ReadonlyMap<string, readonly TagEntry[]>;
  readonly byModule: ReadonlyMap<string, readonly TagEntry[]>;
  /** Unit, then handle or path. */
  readonly byAddress: ReadonlyMap<string, ReadonlyMap<string, TagEntry>>;
}

const NONE: readonly TagEntry[] = [];

export class TagCatalog {
  readonly #read: StoreReader;
  readonly #sites = new Map<string, SiteTags>();

  constructor(store: Store) {
    this.#read = store;
    for (const kind of [Unit, ControlModule, ControlProgram]) {
      store.watch(kind, ({ resource, configuration }) => {
        if (configuration) this.#sites.delete(resource.metadata.site);
      });
    }
    for (const kind of [ControlModuleTemplate, FunctionBlockType]) store.watch(kind, () => this.#sites.clear()); // they serve every site
    store.watchReload(() => this.#sites.clear());
  }

  ofSite(site: string): readonly TagEntry[] {
    return this.#of(site).all;
  }

  ofUnit(site: string, unit: string): readonly TagEntry[] {
    return this.#of(site).byUnit.get(unit) ?? NONE;
  }

  ofModule(site: string, module: string): readonly TagEntry[] {
    return this.#of(site).byModule.get(module) ?? NONE;
  }

  /** By handle, or by path. */
  find(site: string, unit: string, address: string): TagEntry | undefined {
    return this.#of(site).byAddress.get(unit)?.get(address);
  }

  #of(site: string): SiteTags {
    let tags = this.#sites.get(site);
    if (!tags) {
      tags = index(collect(this.#read, site));
      this.#sites.set(site, tags);
    }
    return tags;
  }
}

function collect(read: StoreReader, site: string): TagEntry[] {
  return [...moduleEntries(read, site), ...programEntries(read, site)].sort((a, b) => compare(a.descriptor.address, b.descriptor.address) || compare(a.path, b.path));
}

function moduleEntries(read: StoreReader, site: string): TagEntry[] {
  return read.list(ControlModule, site).flatMap((module) => {
    const resolved = resolvedModuleOf(read, module);
    if (!resolved) return [];
    const { name, labels } = module.metadata;
    const unit = unitOf(read, site, module.spec);
    return readableTags(resolved).map((tag) => {
      const path = `${name}.${tag.name}`;
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
        },
      });
    });
  });
}

/** Outputs and locals can be read, an input without a source can be written (decisions 1.6). */
function programEntries(read: StoreReader, site: string): TagEntry[] {
  return read.list(ControlProgram, site).flatMap(({ metadata, spec }) => {
    if (ownerOfProgram(metadata) !== undefined) return [];
    return spec.variables
      .filter(({ direction, source }) => direction !== 'input' || !source)
      .map((variable) => {
        const path = `${metadata.name}.${variable.name}`;
        return entryOf({
          site,
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
  });
}

function entryOf(entry: Omit<TagEntry, 'openJson'>): TagEntry {
  return { ...entry, openJson: JSON.stringify(entry.descriptor).slice(0, -1) };
}

function index(all: readonly TagEntry[]): SiteTags {
  const byUnit = new Map<string, TagEntry[]>();
  const byModule = new Map<string, TagEntry[]>();
  const byAddress = new Map<string, Map<string, TagEntry>>();
  for (const entry of all) {
    const { unit, controlModule } = entry.descriptor;
    push(byUnit, unit, entry);
    if (controlModule !== '') push(byModule, controlModule, entry);
    let addresses = byAddress.get(unit);
    if (!addresses) byAddress.set(unit, (addresses = new Map()));
    // two tags on one channel share its handle: the first by path answers, the other is reached by its path
    if (!addresses.has(entry.descriptor.address)) addresses.set(entry.descriptor.address, entry);
    addresses.set(entry.path, entry);
  }
  return { all, byUnit, byModule, byAddress };
}

function push(map: Map<string, TagEntry[]>, key: string, entry: TagEntry): void {
  const list = map.get(key);
  if (list) list.push(entry);
  else map.set(key, [entry]);
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
