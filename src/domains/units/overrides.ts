/**
 * Overrides in force on the outputs of control modules (decisions 5.1 rule 7): the worker says which there are, the audit
 * trail who wrote them. They stand in the status of the module, and go with the worker that held them.
 */
import type { UnitOutbound } from '../../../runtime/port.js';
import { type Clock, timestamp } from '../../platform/base/clock.js';
import type { Store } from '../../platform/store/store.js';
import { ControlModule, type ControlModuleStatus } from '../control-modules/kind.js';
import { modulesOf } from '../control-modules/modules.js';
import { Unit } from '../plant/kind.js';
import { TAG_WRITE_CATEGORY } from '../tags/write.js';
import type { UnitLink, UnitRuntimes } from '../placement/runtimes.js';

type Override = ControlModuleStatus['overrides'][number];
type InForce = Extract<UnitOutbound, { type: 'overrides' }>['overrides'];

/** What a unit has said. */
interface Told extends Pick<UnitLink, 'site' | 'unit'> {
  readonly inForce: InForce;
  readonly at: string;
}

/** Who wrote when nobody did over the API. */
const BY_PHASE = 'phase';

export function keepOverrides({ store, runtimes, clock }: { readonly store: Store; readonly runtimes: UnitRuntimes; readonly clock: Clock }): void {
  /** Last admitted write of each tag, by site and address. */
  const writers = new Map<string, { readonly by: string; readonly value: string }>();
  store.watchAudit(({ category, result, site, target, displayName, after }) => {
    if (category === TAG_WRITE_CATEGORY && result === 'Accepted') writers.set(`${site}/${target.name}`, { by: displayName, value: String(after) });
  });

  const authorOf = (site: string, address: string, value: string): string => {
    const last = writers.get(`${site}/${address}`);
    return last && (last.value === value || Number(last.value) === Number(value)) ? last.by : BY_PHASE;
  };

  /** The last word of each unit, by site and name: what could not be written, or was taken back, is written when it can be. */
  const told = new Map<string, Told>();

  const take = ({ site, unit }: UnitLink, inForce: InForce): void => {
    const word = { site, unit, inForce, at: timestamp(clock.wallMs()) };
    told.set(`${site}/${unit}`, word);
    show(word);
  };

  const show = ({ site, unit, inForce, at }: Told): void => {
    if (!store.accepting) return;
    const puts = modulesOf(store, site, unit).flatMap(({ metadata, status }) => {
      const prefix = `${metadata.name}.`;
      const overrides = inForce
        .filter(({ address }) => address.startsWith(prefix))
        .map(({ address, value }): Override => {
          const tag = address.slice(prefix.length);
          const text = String(value);
          return status.overrides.find((known) => known.tag === tag && known.value === text) ?? { tag, value: text, by: authorOf(site, address, text), at };
        });
      const isSame = overrides.length === status.overrides.length && overrides.every((override) => status.overrides.includes(override));
      return isSame ? [] : [{ kind: ControlModule, site, name: metadata.name, status: { ...status, overrides } }];
    });
    if (puts.length > 0) store.apply({ puts });
  };

  runtimes.onMessage((link, message) => {
    if (message.type === 'overrides') take(link, message.overrides);
  });
  runtimes.onChange((link, what) => {
    if (what !== 'plan') take(link, []); // overrides do not survive a restart
  });
  store.watch(Unit, ({ type, resource: { metadata } }) => {
    if (type === 'remove') told.delete(`${metadata.site}/${metadata.name}`);
  });
  store.watchReload(() => {
    for (const word of told.values()) show(word);
  });
}
