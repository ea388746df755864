/** The ownership register of a module as it is configured (`options.ownership`, ADR 0015). Pure. */
import * as v from 'valibot';
import { describeFields } from '../../platform/base/field-words.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { Required, Scalar } from '../../platform/store/fields.js';
import { freeMap } from '../../platform/store/free-map.js';
import { OWNERSHIP_WORDS } from './field-words.js';

const INTERVAL_MIN_MS = 200;
const INTERVAL_MAX_MS = 60_000;

export const Ownership = v.strictObject({
  /** First of four registers of the device that nobody else uses. */
  address: Required,
  intervalMs: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(INTERVAL_MIN_MS, `must be at least ${INTERVAL_MIN_MS}`), v.maxValue(INTERVAL_MAX_MS, `must be at most ${INTERVAL_MAX_MS}`)),
    1000,
  ),
  /** Mark of the box whose place this one takes, once that one is off. */
  takeFrom: v.optional(v.pipe(v.string(), v.regex(/^([0-9a-f]{8})?$/, 'must be the mark of a box: eight hexadecimal digits')), ''),
});
export type Ownership = v.InferOutput<typeof Ownership>;

nameSchemas({ OutputOwnership: Ownership });
describeFields(Ownership, OWNERSHIP_WORDS);

type Scalars = Record<string, string | number | boolean>;

/** Options are scalars but for `ownership`, which `ownershipOf` reads. */
export const Options = freeMap(v.union([Scalar, Ownership])) as v.GenericSchema<Scalars, Scalars>;

export function ownershipOf(options: Readonly<Record<string, unknown>>): Ownership | undefined {
  const { ownership } = options;
  return typeof ownership === 'object' && ownership !== null ? (ownership as Ownership) : undefined;
}

/** The options that the protocol knows. */
export function driverOptions({ ownership, ...options }: Readonly<Scalars>): Scalars {
  return typeof ownership === 'object' || ownership === undefined ? options : { ...options, ownership };
}
