/**
 * The field shapes that kinds share. Omitted optional fields read as empty (decisions 1.4), so that what is stored,
 * compared and exported always has one form.
 */
import * as v from 'valibot';
import { parseDuration } from '../base/duration-text.js';
import { freeMap } from './free-map.js';

export const Text = v.optional(v.string(), '');
export const Flag = v.optional(v.boolean(), false);
/** Seconds, counts: an integer from 0. */
export const Count = v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)), 0);
export const Required = v.pipe(v.string(), v.minLength(1, 'must not be empty'));

/** Parameters, outputs, variables, roles, blocks, ports, signals (decisions, conventions). */
export const Identifier = v.pipe(v.string(), v.regex(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/, 'must be an identifier: letters, digits and _, at most 63'));

/** Steps and tags (decisions 1.6, 2.1). */
export const TagName = v.pipe(v.string(), v.regex(/^[A-Za-z][A-Za-z0-9_-]{0,62}$/, 'must begin with a letter and have letters, digits, _ or -, at most 63'));

/** A reference to another resource by its name; empty when there is none. */
export const Reference = Text;

/** Decimal text with optional sign and exponent; empty when there is none (decisions 1.3). */
export const NumberText = v.optional(
  v.pipe(
    v.string(),
    v.check(
      (text) => text === '' || isNumberText(text),
      ({ input }) => `must be a decimal number as text${isNumberText(input.trim().replace(',', '.')) ? `; write "${input.trim().replace(',', '.')}"` : ''}`,
    ),
  ),
  '',
);

/** The same where an omitted one is not stored: a member that came later than stored specs of its kind. */
export const LaterNumberText = v.optional(NumberText.wrapped);

/** `1m30s`; empty when there is none. */
export const DurationText = v.optional(
  v.pipe(
    v.string(),
    v.check(
      (text) => text === '' || parseDuration(text) !== null,
      ({ input }) => `must be a duration such as 100ms, 30s or 1m30s${/^\d+$/.test(input) ? `; ${input} is a number without its unit` : ''}`,
    ),
  ),
  '',
);

/** Whether a shape is that of a duration, for whoever says what is wrong with what stands there. */
export function isDuration(shape: object | undefined): boolean {
  return shape !== undefined && shape === DurationText.wrapped;
}

/** What `params`, `options` and defaults may hold. */
export const Scalar = v.union([v.string(), v.number(), v.boolean()]);
export const ScalarMap = freeMap(Scalar);

const NUMBER_TEXT = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

export function isNumberText(text: string): boolean {
  return NUMBER_TEXT.test(text);
}

/** A `Term` as it is stored. */
export const StoredTerm = v.object({ from: v.object({ wallMs: v.number(), bootID: v.string(), bootMs: v.number() }), durationMs: v.number() });

/** Identities that people read and documents carry: no control characters. */
export const LABEL_TEXT = /^[^\u0000-\u001f\u007f]*$/u;

/** The spec of a kind that is evidence: it is read as it was written, whatever the form is by now. */
export function asWritten<Spec>(): v.GenericSchema<Spec> {
  return v.custom<Spec>((spec) => typeof spec === 'object' && spec !== null);
}
