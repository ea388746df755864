/** Services of the process modules of a unit (contract 3, Additional routes; decisions Q-CHANGE-11). */
import * as v from 'valibot';
import { missing } from '../../platform/base/refusal.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { listReply } from '../../platform/http/paged-list.js';
import { LIST, parameters } from '../../platform/http/parameters.js';
import { routesFor } from '../../platform/http/route.js';
import type { Store } from '../../platform/store/store.js';
import { ControlModule } from '../control-modules/kind.js';
import { resolvedModuleOf } from '../control-modules/modules.js';
import { IOModule } from '../io-modules/kind.js';
import { SERVICE_COMMANDS, SERVICE_STATES } from '../io-modules/service-words.js';
import { Unit } from '../plant/kind.js';
import { unitOf } from '../plant/unit-of.js';
import { enabledIn, nameOfProcedure, OPERATION_MODES, operationModeIn, SOURCE_MODES, sourceModeIn, stateIn } from './live-service.js';
import type { MtpServices } from './services.js';

export interface MtpRouteDeps {
  readonly store: Store;
  readonly services: Pick<MtpServices, 'imageOf'>;
}

type Named = { readonly site: string; readonly name: string };

const route = routesFor<MtpRouteDeps>();

const ServiceBody = v.strictObject({
  name: v.string(),
  ioModule: v.string(),
  /** '' while it is not known. */
  state: v.picklist([...SERVICE_STATES, '']),
  commandEnable: v.array(v.picklist(SERVICE_COMMANDS)),
  procedures: v.array(v.strictObject({ id: v.number(), name: v.string() })),
  /** '' where none runs, or it is not known. */
  currentProcedure: v.string(),
  operationMode: v.picklist([...OPERATION_MODES, '']),
  /** Of a service in Automatic. */
  sourceMode: v.picklist([...SOURCE_MODES, '']),
});
type ServiceBody = ToldBy<typeof ServiceBody>;

nameSchemas({ MtpService: ServiceBody });

/** Services of the I/O modules that a module of the unit stands on, in the order of their names. */
function servicesOf({ site, name }: Named, { store, services }: MtpRouteDeps): ServiceBody[] {
  const own = store.list(ControlModule, site).filter(({ spec }) => unitOf(store, site, spec) === name);
  const ioModules = [...new Set(own.flatMap((module) => resolvedModuleOf(store, module)?.ioModules ?? []))].sort();
  return ioModules.flatMap((ioModule) =>
    (store.get(IOModule, site, ioModule)?.spec.services ?? []).map((service) => {
      const seen = services.imageOf(site, ioModule, service);
      const state = stateIn(seen);
      const enabled = enabledIn(seen);
      return {
        name: service.name,
        ioModule,
        state: 'value' in state ? state.value : '',
        commandEnable: 'value' in enabled ? [...enabled.value] : [],
        procedures: service.procedures.map(({ id, name: procedure }) => ({ id, name: procedure })),
        currentProcedure: nameOfProcedure(service, seen),
        operationMode: operationModeIn(seen) ?? '',
        sourceMode: sourceModeIn(seen) ?? '',
      };
    }),
  );
}

export const mtpRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/sites/{site}/units/{name}/mtp-services',
    action: 'unit:mtp-services',
    tier: 'read',
    query: parameters(LIST),
    reply: v.array(ServiceBody),
    summary: 'Services of the process modules of the unit: state, enabled commands, procedures, modes; empty where they are not known; query limit, cursor',
    exists: ({ site, name }: Named, { store }) => {
      if (!store.get(Unit, site, name)) throw missing('Unit', name);
    },
    handle: (context, deps) =>
      listReply(context, { list: 'mtp-services', items: servicesOf(context.params, deps), keyOf: ({ ioModule, name }) => [ioModule, name], render: (service) => service }),
  }),
];
