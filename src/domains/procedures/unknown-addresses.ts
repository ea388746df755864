/**
 * Addresses in the texts of a phase template that lead nowhere in its site (decisions 2.3): the role is not declared, and there is no module or
 * program of that name; a tag that a module does not have; a signal, barrier or channel that there is not. They are taken, so that a plant can
 * be engineered in any order (decisions 2.8), and are a failure of the phase when it comes to them (`unbound-role`, `unknown-tag`,
 * `unknown-signal`). Whether a unit binds the roles is a matter of recipes.
 */
import type { NamedAddress, UsedAddress } from '../../../runtime/language/chart-uses.js';
import { sameName } from '../../../runtime/vocabulary/same-name.js';
import { groupBy } from '../../platform/base/group-by.js';
import { listed, Nearing } from '../../platform/base/name-words.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { SpecNote } from '../../platform/store/spec-note.js';
import { ControlModule, ControlModuleTemplate } from '../control-modules/kind.js';
import { readableTags } from '../control-modules/merge.js';
import { resolvedModuleOf } from '../control-modules/modules.js';
import { CoordinationBlock, SyncBarrier } from '../coordination/kind.js';
import { IOModule } from '../io-modules/kind.js';
import { ControlProgram } from '../logic/kind.js';
import type { PhaseTemplateSpec } from './kind.js';
import { textsOf } from './template-notes.js';

/** One sentence for each address, at the first place where it stands. @param near of all that is told together. */
export function unknownAddresses(read: StoreReader, site: string, spec: PhaseTemplateSpec, near = new Nearing()): readonly SpecNote[] {
  const known: Known = { read, site, roles: spec.roles.map(({ name }) => name), isRole: new Set(spec.roles.map(({ name }) => name.toLowerCase())), near };
  const unknown = eachAddress(textsOf(spec).addresses, (use) => whyUnknown(known, use)).map(({ use, text }) => ({ path: pathOfUse(use), text }));
  return [...unknown, ...unknownTypes(read, spec, near)];
}

/** Uses by address: each is looked at once, and told at the first place where it stands. @param whyOf '' for one that leads somewhere, or may. */
export function eachAddress<Use extends NamedAddress>(uses: readonly Use[], whyOf: (use: Use) => string): readonly { readonly use: Use; readonly text: string }[] {
  return [...groupBy(uses, ({ address }) => address).values()].flatMap(([use, ...others]) => {
    const why = use === undefined ? '' : whyOf(use);
    if (!use || why === '') return [];
    const more = others.length === 0 ? '' : `; it stands in ${others.length === 1 ? 'one more place' : `${others.length} more places`}`;
    return [{ use, text: `line ${use.line}, ${use.builtin}('${use.address}'): ${why}${more}` }];
  });
}

/** Names in the place of a role that are none, as modules and programs are called; each once. */
export function ownersIn(spec: PhaseTemplateSpec): readonly string[] {
  const roles = new Set(spec.roles.map(({ name }) => name.toLowerCase()));
  const owners = textsOf(spec).addresses.flatMap(({ address, builtin }) => {
    const point = address.indexOf('.');
    if (address.includes(':') || (point < 1 && builtin !== 'MODE')) return [];
    return [(point < 0 ? address : address.slice(0, point)).toLowerCase()];
  });
  return [...new Set(owners)].filter((owner) => !roles.has(owner));
}

/** What the texts of one template are held against. */
interface Known {
  readonly read: StoreReader;
  readonly site: string;
  readonly roles: readonly string[];
  /** In lower case. */
  readonly isRole: ReadonlySet<string>;
  readonly near: Nearing;
}

/** '' for what leads somewhere, or may. */
function whyUnknown({ read, site, roles, isRole, near }: Known, { address, builtin }: UsedAddress): string {
  const colon = address.indexOf(':');
  if (colon > 0) return whyNoEndpoint(read, site, address, near);
  const point = address.indexOf('.');
  // what is no address is refused where the texts are checked
  if (point < 1 && builtin !== 'MODE') return '';
  const owner = point < 0 ? address : address.slice(0, point);
  if (isRole.has(owner.toLowerCase())) return '';
  const module = read.get(ControlModule, site, owner) ?? read.get(ControlModule, site, owner.toLowerCase());
  if (module) {
    const resolved = point < 0 ? undefined : resolvedModuleOf(read, module);
    if (!resolved) return '';
    const { names, keys } = namesOf(resolved, () => readableTags(resolved).map(({ name }) => name));
    const tag = address.slice(point + 1);
    return keys.has(tag.toLowerCase()) ? '' : `control module ${module.metadata.name} has no tag ${tag}${near.words(tag, names)}`;
  }
  if (point > 0 && (read.get(ControlProgram, site, owner) ?? read.get(ControlProgram, site, owner.toLowerCase()))) return '';
  const declared = roles.length === 0 ? 'which declares none' : `whose roles are ${listed(roles)}`;
  return `${owner} is no role of the template, ${declared}${near.words(owner, roles)}, and no control module or program of the site: declare the role, or correct the name`;
}

/** Of `signal:<name>`, `barrier:<name>` and `<io module>:<channel>`. */
export function whyNoEndpoint(read: StoreReader, site: string, address: string, near: Nearing): string {
  const colon = address.indexOf(':');
  const [scheme, word] = [address.slice(0, colon), address.slice(colon + 1)];
  const missing = ({ names, keys }: Names, sentence: string): string => (keys.has(word.toLowerCase()) ? '' : `${sentence}${near.words(word, names)}`);
  if (sameName(scheme, 'signal')) {
    const blocks = read.list(CoordinationBlock, site);
    const signals = namesOf(blocks, () => blocks.flatMap(({ spec }) => (spec.signal ? [spec.signal.signalName] : [])));
    return missing(signals, `no coordination block of the site has a signal ${word}`);
  }
  if (sameName(scheme, 'barrier')) {
    const barriers = read.list(SyncBarrier, site);
    return missing(
      namesOf(barriers, () => barriers.map(({ metadata }) => metadata.name)),
      `the site has no barrier ${word}`,
    );
  }
  const module = read.get(IOModule, site, scheme);
  if (!module) return `the site has no I/O module ${scheme}`;
  const { channels } = module.spec;
  return missing(
    namesOf(channels, () => channels.flatMap(({ name, address: own }) => (name === '' ? [own] : [name, own]))),
    `I/O module ${scheme} has no channel ${word}`,
  );
}

interface Names {
  readonly names: readonly string[];
  /** As they are written. */
  readonly isName: ReadonlySet<string>;
  /** In lower case. */
  readonly keys: ReadonlySet<string>;
}

const namesIn = new WeakMap<object, Names>();

/** Kept with the list that they are of: the texts of a plant ask for them again and again. */
function namesOf(list: object, find: () => readonly string[]): Names {
  const known = namesIn.get(list);
  if (known) return known;
  const names = find();
  const made = { names, isName: new Set(names), keys: new Set(names.map((name) => name.toLowerCase())) };
  namesIn.set(list, made);
  return made;
}

/** A role asks for a type that no template has: said where one is near, for the others may come later. */
function unknownTypes(read: StoreReader, { roles }: PhaseTemplateSpec, near: Nearing): readonly SpecNote[] {
  const templates = read.list(ControlModuleTemplate, '');
  const { names, isName } = namesOf(templates, () => [...new Set(templates.map(({ spec }) => spec.moduleType))]);
  return roles.flatMap(({ name, requiredType }): readonly SpecNote[] => {
    const found = isName.has(requiredType) ? undefined : near.find(requiredType, names);
    return found === undefined
      ? []
      : [{ path: `roles[${name}].requiredType`, text: `role ${name} needs a ${requiredType}, which no template of control modules is; the nearest there is is ${found}` }];
  });
}

/** Member of the spec that the text is. */
export function pathOfUse({ chart, step, transition }: UsedAddress): string {
  const inner = step === undefined ? `transitions[${transition ?? 0}].conditionST` : `steps[${step}].actionST`;
  return chart === 'running' ? inner : `charts.${chart}.${inner}`;
}
