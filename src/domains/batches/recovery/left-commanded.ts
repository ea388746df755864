/**
 * What stands commanded in the units of a batch that was interrupted: writable tags are retained (decisions 3.8), so a motor that was
 * switched on by hand runs again when the appliance is back, while its batch is Held. Nothing is changed by that; it is told, to
 * whoever reads the batch before it goes on. Judged on read, by the present values.
 */
import * as v from 'valibot';
import { nameSchemas } from '../../../platform/base/schema-names.js';
import { QUALITY } from '../../../../runtime/vocabulary/quality.js';
import type { ToldBy } from '../../../platform/http/replies.js';
import type { Store } from '../../../platform/store/store.js';
import { ControlModule } from '../../control-modules/kind.js';
import { resolvedModuleOf } from '../../control-modules/modules.js';
import type { UnitRuntimes } from '../../placement/runtimes.js';
import { unitOf } from '../../plant/unit-of.js';

export const Commanded = v.strictObject({
  unit: v.string(),
  controlModule: v.string(),
  tag: v.string(),
  /** The word of the tag for TRUE. */
  value: v.string(),
});
export type Commanded = ToldBy<typeof Commanded>;

nameSchemas({ LeftCommanded: Commanded });

export function commandedIn({ store, runtimes }: { readonly store: Store; readonly runtimes: UnitRuntimes }, site: string, units: readonly string[]): Commanded[] {
  return store.list(ControlModule, site).flatMap((module): Commanded[] => {
    const { name } = module.metadata;
    const unit = unitOf(store, site, module.spec);
    const link = units.includes(unit) ? runtimes.link(site, unit) : undefined;
    if (!link?.ready || !link.refresh()) return [];
    const commands = (resolvedModuleOf(store, module)?.tags ?? []).filter(({ role, accessLevel, type }) => role === 'command' && accessLevel === 'readwrite' && type === 'BOOL');
    return commands.flatMap(({ name: tag, trueLabel }) => {
      const index = link.tagIndex(`${name}.${tag}`);
      if (index < 0) return [];
      const { value, quality, atMs } = link.reading(index);
      return value === true && atMs !== 0 && quality !== QUALITY.Bad ? [{ unit, controlModule: name, tag, value: trueLabel || 'TRUE' }] : [];
    });
  });
}
