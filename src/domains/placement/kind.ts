/** What the gateway keeps for the runtime of a unit. */
import * as v from 'valibot';
import type { RetainedNetwork } from '../../../runtime/port.js';
import type { Kind } from '../../platform/store/kind.js';
import type { LifeSign } from '../../platform/store/life-sign.js';

/** What a worker asked to be kept over restarts (decisions 3.8); written by the gateway, never served. */
export interface RetainedSpec {
  readonly networks: Readonly<Record<string, RetainedNetwork>>;
  /** When the worker told of them; absent in data of 0.1.0. */
  readonly savedAt?: LifeSign;
}

export const RetainedValues: Kind<RetainedSpec, Readonly<Record<string, never>>> = {
  kind: 'RetainedValues',
  group: 'system',
  scope: 'site',
  besideSite: true,
  action: 'unit',
  // the form of the networks is that of the runtime, which judges what it is given back
  spec: v.looseObject({ networks: v.record(v.string(), v.looseObject({})) }) as unknown as v.GenericSchema<unknown, RetainedSpec>,
  body: 'document',
  apply: { how: 'no', reason: 'retained values are written by the unit runtime' },
  initialStatus: () => ({}),
};
