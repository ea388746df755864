/**
 * Parameters and outputs of a phase template that go to tags, or come from them, in another engineering unit: `WRITE('temp.sp', target)` of a target
 * in degC and a setpoint in K. Nothing converts them. Of a role the tags are those of the one template with its module type.
 */
import type { UsedAddress } from '../../../runtime/language/chart-uses.js';
import { sameName } from '../../../runtime/vocabulary/same-name.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { SpecNote } from '../../platform/store/spec-note.js';
import { ControlModule, ControlModuleTemplate, type ControlModuleTemplateSpec } from '../control-modules/kind.js';
import { resolvedModuleOf } from '../control-modules/modules.js';
import type { PhaseTemplateSpec } from './kind.js';
import { textsOf } from './template-notes.js';
import { pathOfUse } from './unknown-addresses.js';
import { areOtherUnits } from './units-of-measure.js';

export function otherTagUnits(read: StoreReader, site: string, spec: PhaseTemplateSpec): readonly SpecNote[] {
  const formals = new Map([...spec.parameters, ...spec.outputs].map((formal) => [formal.name.toLowerCase(), formal]));
  const known: Known = { read, site, types: new Map(spec.roles.map(({ name, requiredType }) => [name.toLowerCase(), requiredType])), templates: new Map() };
  return textsOf(spec).addresses.flatMap((use): readonly SpecNote[] => {
    const formal = use.name === undefined ? undefined : formals.get(use.name.toLowerCase());
    if (!formal || formal.unit === '') return [];
    const tag = tagOf(known, use);
    if (!tag || !areOtherUnits(tag.unit, formal.unit) || isOwnOfModules(read, site, tag)) return [];
    const way = use.builtin === 'READ' ? 'goes to' : 'gets';
    const text = `the tag is in ${tag.unit} and ${way} ${formal.name}, which is in ${formal.unit}: nothing converts it, the number is taken as it is`;
    return [{ path: pathOfUse(use), text: `line ${use.line}, ${use.builtin}('${use.address}'): ${text}` }];
  });
}

interface ReachedTag {
  readonly name: string;
  readonly unit: string;
  /** Of a role; undefined of a module. */
  readonly template?: string;
}

/** What the texts of one template are held against. */
interface Known {
  readonly read: StoreReader;
  readonly site: string;
  /** Of roles, by name in lower case. */
  readonly types: ReadonlyMap<string, string>;
  /** The one template of a type; undefined where there is none or several. */
  readonly templates: Map<string, Resource<ControlModuleTemplateSpec> | undefined>;
}

function tagOf(known: Known, { address }: UsedAddress): ReachedTag | undefined {
  const point = address.indexOf('.');
  if (point < 1 || address.includes(':')) return undefined;
  const [owner, word] = [address.slice(0, point), address.slice(point + 1)];
  const { read, site, types } = known;
  const type = types.get(owner.toLowerCase());
  if (type === undefined) {
    const module = read.get(ControlModule, site, owner) ?? read.get(ControlModule, site, owner.toLowerCase());
    const tag = module && resolvedModuleOf(read, module)?.tags.find(({ name }) => sameName(name, word));
    return tag && { name: tag.name, unit: tag.engUnits };
  }
  const template = templateOf(known, type);
  const tag = template?.spec.tags.find(({ name }) => sameName(name, word));
  return tag && template && { name: tag.name, unit: tag.engUnits, template: template.metadata.name };
}

function templateOf({ read, templates }: Known, type: string): Resource<ControlModuleTemplateSpec> | undefined {
  if (!templates.has(type)) {
    const [template, ...others] = read.list(ControlModuleTemplate, '').filter(({ spec }) => spec.moduleType === type);
    templates.set(type, others.length === 0 ? template : undefined);
  }
  return templates.get(type);
}

const ownIn = new WeakMap<object, ReadonlyMap<string, ReadonlySet<string>>>();

/** Units that modules say themselves, by template and tag; kept with the modules, because each phase of a plant asks. */
function ownUnits(read: StoreReader, site: string): ReadonlyMap<string, ReadonlySet<string>> {
  const modules = read.list(ControlModule, site);
  const known = ownIn.get(modules);
  if (known) return known;
  const own = new Map<string, Set<string>>();
  for (const { spec } of modules) {
    for (const { name, engUnits } of spec.tags) {
      if (engUnits === undefined) continue;
      const key = ownKey(spec.templateRef, name);
      const units = own.get(key);
      if (units) units.add(engUnits);
      else own.set(key, new Set([engUnits]));
    }
  }
  ownIn.set(modules, own);
  return own;
}

function ownKey(template: string, tag: string): string {
  return `${template}/${tag.toLowerCase()}`;
}

/** Modules may say the unit of a tag themselves: which one binds the role is not known here. */
function isOwnOfModules(read: StoreReader, site: string, { name, unit, template }: ReachedTag): boolean {
  if (template === undefined) return false;
  return [...(ownUnits(read, site).get(ownKey(template, name)) ?? [])].some((own) => own !== unit);
}
