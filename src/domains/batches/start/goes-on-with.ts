/**
 * What a batch goes on with although its recipe does not say so: modules that people have taken, bypassed interlocks, values far from their
 * set-points, devices that stand commanded. It keeps nothing from going on and is told (contract 3, preflight; ISA-101: abnormal is conspicuous).
 */
import { isFarOff } from '../../../../runtime/vocabulary/far-off.js';
import { QUALITY } from '../../../../runtime/vocabulary/quality.js';
import { type Told, told } from '../../../../runtime/vocabulary/told.js';
import type { Store } from '../../../platform/store/store.js';
import { inForce } from '../../control-modules/bypass.js';
import { ControlModule } from '../../control-modules/kind.js';
import { type ModuleResource, modeOf, modulesOf, resolvedModuleOf } from '../../control-modules/modules.js';
import type { UnitLink, UnitRuntimes } from '../../placement/runtimes.js';
import type { WrittenByHand } from '../../tags/written-by-hand.js';
import { commandedIn } from '../recovery/left-commanded.js';
import type { Blocker } from './conditions.js';

interface Plant {
  readonly store: Store;
  readonly runtimes: UnitRuntimes;
  readonly site: string;
}

interface Departed {
  readonly unit: string;
  readonly module: string;
  readonly message: string;
  readonly told: Told;
  readonly action: string;
}

/** @param known modules of which more is said already. */
export function modesOnTheWay({ store, site }: Plant, units: readonly string[], known: ReadonlySet<string>): Blocker[] {
  return units.flatMap((unit) =>
    modulesOf(store, site, unit).flatMap((resource): Blocker[] => {
      const { name: module } = resource.metadata;
      const mode = modeOf(resource);
      const found: Blocker[] = [];
      const of = { unit, module };
      if (mode !== 'Automatic' && !known.has(module))
        found.push(row({ ...of, message: `${module} is in ${mode}`, told: told('not-automatic', { module, mode }), action: `set ${module} to Automatic` }));
      if (inForce(resource.status.interlockBypass, store.terms))
        found.push(row({ ...of, message: `the interlocks of ${module} are bypassed`, told: told('bypassed', { module }), action: `end the bypass of ${module}` }));
      return found;
    }),
  );
}

/** By the present values; nothing of a unit whose runtime does not answer. */
export function devicesOnTheWay({ store, runtimes, site }: Plant, units: readonly string[]): Blocker[] {
  const off = units.flatMap((unit) => {
    const link = runtimes.link(site, unit);
    return link?.ready && link.refresh() ? modulesOf(store, site, unit).flatMap((module) => offSetpoint(store, link, unit, module)) : [];
  });
  // what a controller is switched to, its mode and its distance from the setpoint tell
  const isController = (name: string): boolean => {
    const module = store.get(ControlModule, site, name);
    return module !== undefined && resolvedModuleOf(store, module)?.deviceClass === 'controller';
  };
  const devices = commandedIn({ store, runtimes }, site, units).filter(({ controlModule }) => !isController(controlModule));
  const commanded = devices.map(({ unit, controlModule: module, value }) =>
    row({ unit, module, message: `${module} stands commanded: ${value}`, told: told('commanded', { module, value }), action: `take back the command of ${module}` }),
  );
  return [...off, ...commanded];
}

/** @param written by the phases of the batch: what these write by themselves does not stay. */
export function valuesOnTheWay({ store, site }: Plant, byHand: readonly WrittenByHand[], written: ReadonlySet<string>): Blocker[] {
  return byHand
    .filter(({ module, tag }) => !written.has(`${module}.${tag.name}`.toLowerCase()) && !isCommand(store, site, module, tag))
    .map(({ unit, module, tag, value, initial, by: who, at }) =>
      row({
        unit,
        module,
        message: `${module}.${tag.name} stays at ${value}, as ${who} wrote it at ${at}; it is ${initial} until somebody writes it`,
        told: told('written-by-hand', { module, tag: tag.name, value: textOf(value, tag), initial: textOf(initial, tag), engUnits: tag.engUnits, who, at }),
        action: `set ${module} to Semi-Automatic or Manual and write ${initial} to ${tag.name}`,
      }),
    );
}

/** The word of a switch, where it has one. */
function textOf(value: number | boolean, { trueLabel, falseLabel }: WrittenByHand['tag']): string {
  if (typeof value === 'number') return String(value);
  return (value ? trueLabel : falseLabel) || String(value).toUpperCase();
}

/** Told as a device that stands commanded. */
function isCommand(store: Store, site: string, name: string, { role, type }: WrittenByHand['tag']): boolean {
  const module = store.get(ControlModule, site, name);
  return role === 'command' && type === 'BOOL' && module !== undefined && resolvedModuleOf(store, module)?.deviceClass !== 'controller';
}

function row({ unit, module, action, ...said }: Departed): Blocker {
  return { ...said, element: module, about: { kind: ControlModule.kind, name: module, unit }, liftedBy: { tier: 'operate', action }, severity: 'warning' };
}

/** Of a controller in Automatic; one that is switched off follows no setpoint. */
function offSetpoint(store: Store, link: UnitLink, unit: string, resource: ModuleResource): Blocker[] {
  const { name: module } = resource.metadata;
  const resolved = resolvedModuleOf(store, resource);
  if (resolved?.deviceClass !== 'controller' || modeOf(resource) !== 'Automatic') return [];
  const measured = resolved.tags.find(({ name, dataType, accessLevel }) => name === 'pv' && dataType === 'Float' && accessLevel === 'read');
  const setpoint = measured && resolved.tags.find(({ role, dataType, engUnits }) => role === 'setpoint' && dataType === 'Float' && engUnits === measured.engUnits);
  if (measured?.min === undefined || measured.max === undefined || !setpoint || presentValue(link, `${module}.enable`) === false) return [];
  const [value, target] = [presentValue(link, `${module}.${measured.name}`), presentValue(link, `${module}.${setpoint.name}`)];
  if (typeof value !== 'number' || typeof target !== 'number' || !isFarOff(value, target, { min: measured.min, max: measured.max })) return [];
  const { engUnits } = measured;
  return [
    row({
      unit,
      module,
      message: `${module} is at ${value} ${engUnits}, its setpoint is ${target} ${engUnits}`,
      told: told('off-setpoint', { module, value: String(value), setpoint: String(target), engUnits }),
      action: `see why ${module} is not at its setpoint`,
    }),
  ];
}

/** Undefined where there is no such tag, none was published yet, or it is Bad. */
function presentValue(link: UnitLink, address: string): unknown {
  const index = link.tagIndex(address);
  if (index < 0) return undefined;
  const { value, quality, atMs } = link.reading(index);
  return atMs === 0 || quality === QUALITY.Bad ? undefined : value;
}
