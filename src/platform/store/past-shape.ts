/**
 * What an entry of the past must be to be worked with: one that was edited says nothing, and its run is present again behind a start
 * (ADR 0035). Walked for each of some hundred thousand entries of a start, so nothing here makes anything.
 */
/** What takes the empty text takes every text, and what takes 0 every number: of most members only the type is judged. */
export type Is = (value: unknown) => boolean;

/** Of each member what it is; one that is not there is undefined. */
export type PastShape = Readonly<Record<string, Is>>;

export const isText: Is = (value) => typeof value === 'string';
export const isNumber: Is = (value) => typeof value === 'number';
export const isFlag: Is = (value) => typeof value === 'boolean';
/** Of a release before this one it may be missing. */
export const maybe =
  (is: Is): Is =>
  (value) =>
    value === undefined || is(value);
export const listOf =
  (is: Is): Is =>
  (value) =>
    Array.isArray(value) && value.every(is);
export const mapOf =
  (is: Is): Is =>
  (value) => {
    if (!isMembers(value)) return false;
    for (const member in value) if (!is(value[member])) return false;
    return true;
  };
export const shaped = (shape: PastShape): Is => {
  const members = Object.entries(shape);
  return (value) => {
    if (!isMembers(value)) return false;
    for (const [member, is] of members) if (!is(value[member])) return false;
    return true;
  };
};

/** Of every kind that names runs (past-index.ts). */
export const RUN_SHAPE = {
  members: mapOf(isNumber),
  names: maybe(mapOf(listOf(listOf(isText)))),
} satisfies PastShape;

function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
