/** Which server a question is for: that of a configured module, or an address (decisions Q-IO-06). */
import * as v from 'valibot';
import { checkAddress, EXPLORED_PROTOCOL } from '../../../runtime/catalog.js';
import type { DeviceSecurity, ProbeCredentials } from '../../../runtime/port.js';
import { invalid, missing, Refusal } from '../../platform/base/refusal.js';
import { type Caller, mayVisit } from '../../platform/http/caller.js';
import { Required } from '../../platform/store/fields.js';
import type { StoreReader } from '../../platform/store/kind.js';
import type { Resource } from '../../platform/store/resource.js';
import type { Credentials } from '../io-modules/credentials.js';
import { type BoxSecurity, deviceSecurity } from '../io-modules/device-security.js';
import { IOModule, type IOModuleSpec, type IOModuleStatus, Security } from '../io-modules/kind.js';
import { isEnabled } from '../io-modules/outputs.js';
import { checkSecurity, normalAddress } from '../io-modules/rules.js';

const TIMEOUT_MS_MIN = 100;
const TIMEOUT_MS_MAX = 30_000;
const TIMEOUT_MS = 5000;

/** Members of every body. */
export const TARGET = {
  /** Name of a configured module; with `site`. */
  ioModule: v.optional(Required),
  site: v.optional(Required),
  /** Or the address of a server, `opc.tcp://host:4840/path`. */
  endpointUrl: v.optional(Required),
  security: v.optional(Security),
  timeoutMs: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(TIMEOUT_MS_MIN, `must be at least ${TIMEOUT_MS_MIN}`), v.maxValue(TIMEOUT_MS_MAX, `must be at most ${TIMEOUT_MS_MAX}`)),
    TIMEOUT_MS,
  ),
} as const;

export type TargetBody = v.InferOutput<v.ObjectSchema<typeof TARGET, undefined>>;

export type Module = Resource<IOModuleSpec, IOModuleStatus>;

export interface Target {
  readonly endpointUrl: string;
  readonly security: DeviceSecurity;
  readonly credentials: ProbeCredentials | undefined;
  readonly timeoutMs: number;
  /** Its address without the path, for which a server does not care. */
  readonly server: string;
}

export interface TargetDeps {
  readonly store: StoreReader;
  readonly credentials: Credentials;
  readonly security: BoxSecurity;
}

/** Whose server it is, is asked of the scope (scope.ts). @throws Refusal 400; 404 for a module that is not there, or not for the caller; 503 for one that is disabled. */
export async function targetOf({ ioModule, site, endpointUrl, security, timeoutMs }: TargetBody, caller: Caller, deps: TargetDeps): Promise<Target> {
  if ((ioModule === undefined) === (endpointUrl === undefined)) throw invalid('invalid_field', 'ioModule', 'name either ioModule with site, or endpointUrl: exactly one of them');
  if (endpointUrl !== undefined) {
    if (site !== undefined) throw invalid('invalid_field', 'site', 'site goes with ioModule, not with endpointUrl');
    const address = checkAddress(EXPLORED_PROTOCOL, endpointUrl);
    if ('error' in address) throw invalid('invalid_field', 'endpointUrl', address.error);
    if (security?.secretRef || security?.clientCertificateRef)
      throw invalid('invalid_field', `security.${security.secretRef ? 'secretRef' : 'clientCertificateRef'}`, 'secrets are those of a site: name an ioModule that uses them');
    const server = withoutPath(address.normalized);
    checkSecurity({ protocol: EXPLORED_PROTOCOL, security });
    const device = deviceSecurity({ security, options: {} }, deps.security);
    return { endpointUrl: address.normalized, security: device, credentials: undefined, timeoutMs, server };
  }
  if (security !== undefined) throw invalid('invalid_field', 'security', 'security is that of the module; it goes with endpointUrl only');
  if (site === undefined) throw invalid('missing_field', 'site', 'ioModule needs the site that it is of');
  const module = mayVisit(caller, site) ? deps.store.get(IOModule, site, ioModule ?? '') : undefined;
  if (!module) throw missing('IOModule', ioModule ?? '');
  const { spec } = module;
  if (spec.protocol !== EXPLORED_PROTOCOL) throw invalid('invalid_field', 'ioModule', `I/O module ${ioModule} is of protocol ${spec.protocol}, not ${EXPLORED_PROTOCOL}`);
  if (!isEnabled(spec)) throw new Refusal('unavailable', `I/O module ${ioModule} is disabled: no connection is made; enable it and ask again`, { code: 'device_unreachable' });
  const normal = normalAddress(spec);
  return {
    endpointUrl: normal,
    security: deviceSecurity(spec, deps.security),
    credentials: await deps.credentials.of(site, spec),
    timeoutMs,
    server: withoutPath(normal),
  };
}

/** Modules that are for servers of this protocol. */
export function modulesOf(store: StoreReader): readonly Module[] {
  return store.list(IOModule).filter(({ spec }) => spec.protocol === EXPLORED_PROTOCOL);
}

export function serverOf({ spec }: Module): string {
  return withoutPath(normalAddress(spec));
}

function withoutPath(address: string): string {
  return address.replace(/^([a-z.]+:\/\/[^/]*)\/.*$/, '$1');
}
