/**
 * What a unit is joined to, and where its things stand on its picture (ADR 0141; ISA-5.1): optional members of a unit that nothing at work hangs
 * on. A pipe leads from one end to another and has devices in it; an end is a unit, a utility, a part of this unit or a junction inside it.
 */
import * as v from 'valibot';
import { describeFields } from '../../platform/base/field-words.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { forAll, invalid, together } from '../../platform/base/refusal.js';
import { isResourceName } from '../../platform/base/resource-name.js';
import { Identifier, Required, Text } from '../../platform/store/fields.js';
import { CONNECTION_END_WORDS, CONNECTION_WORDS, LAYOUT_PLACE_WORDS } from './field-words.js';

export const VESSEL_PARTS = ['body', 'jacket'] as const;
/** Of one unit: more than a picture can show. */
const CONNECTIONS_MAX = 100;
const VIA_MAX = 12;
const PLACES_MAX = 400;
const UTILITY_LETTERS_MAX = 60;
/** Columns and rows of the grid of a picture. */
const GRID_MAX = 200;

/** Exactly one of the members; that is judged beside the schema, so that the answer names what is wrong. */
export const ConnectionEnd = v.strictObject({
  unit: v.optional(v.string()),
  utility: v.optional(v.string()),
  part: v.optional(v.picklist(VESSEL_PARTS)),
  junction: v.optional(Identifier),
});
export type ConnectionEnd = v.InferOutput<typeof ConnectionEnd>;

export const Connection = v.strictObject({
  from: ConnectionEnd,
  to: ConnectionEnd,
  /** Control modules that stand in the pipe, in the direction of the flow. */
  via: v.optional(v.array(v.string()), []),
  medium: Text,
});
export type Connection = v.InferOutput<typeof Connection>;

const Cell = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(GRID_MAX));
export const LayoutPlace = v.strictObject({ item: Required, column: Cell, row: Cell });
export type LayoutPlace = v.InferOutput<typeof LayoutPlace>;

describeFields(ConnectionEnd, CONNECTION_END_WORDS);
describeFields(Connection, CONNECTION_WORDS);
describeFields(LayoutPlace, LAYOUT_PLACE_WORDS);
nameSchemas({ UnitConnection: Connection, UnitConnectionEnd: ConnectionEnd, UnitLayoutPlace: LayoutPlace });

/** An end as one word, for a sentence and for a place of the layout. Two ends may have one word: a utility may be called as a unit is. */
function endName({ unit, utility, part, junction }: ConnectionEnd): string {
  return unit ?? utility ?? (part === undefined ? `junction ${junction ?? ''}` : part);
}

function isSameEnd(a: ConnectionEnd, b: ConnectionEnd): boolean {
  return a.unit === b.unit && a.utility === b.utility && a.part === b.part && a.junction === b.junction;
}

/** @throws Refusal 400 naming the connection, and in it the unit, module or junction that is wrong. */
export function checkConnections(connections: readonly Connection[]): void {
  if (connections.length > CONNECTIONS_MAX) throw invalid('invalid_field', 'connections', `at most ${CONNECTIONS_MAX} connections`);
  const taken = new Map<string, number>();
  together(
    () =>
      forAll(connections, ({ from, to, via }, index) => {
        const at = `connections[${index}]`;
        checkEnd(from, `${at}.from`);
        checkEnd(to, `${at}.to`);
        if (via.length > VIA_MAX) throw invalid('invalid_field', `${at}.via`, `at most ${VIA_MAX} modules stand in one connection`);
        if (isSameEnd(from, to) && (via.length === 0 || from.junction !== undefined))
          throw invalid('invalid_field', at, `connection ${index} leads from ${endName(from)} to itself${via.length === 0 ? ' with nothing in it' : ''}`);
      }),
    () =>
      forAll(connections, ({ via }, index) => {
        for (const [place, module] of via.entries()) {
          const field = `connections[${index}].via[${place}]`;
          if (!isResourceName(module)) throw invalid('invalid_name', field, `${module === '' ? 'an empty name' : module} is no name of a control module`);
          const other = taken.get(module);
          if (other !== undefined) throw invalid('invalid_field', field, `control module ${module} stands in connection ${other} already`);
          taken.set(module, index);
        }
      }),
    () => checkJunctions(connections),
  );
}

function checkEnd(end: ConnectionEnd, field: string): void {
  const given = Object.entries(end).filter(([, value]) => value !== undefined);
  if (given.length !== 1) throw invalid('invalid_field', field, `${field} has one of unit, utility, part and junction, not ${given.length}`);
  if (end.unit !== undefined && !isResourceName(end.unit)) throw invalid('invalid_name', `${field}.unit`, `${end.unit === '' ? 'an empty name' : end.unit} is no name of a unit`);
  if (end.utility !== undefined && (end.utility.trim() === '' || end.utility.length > UTILITY_LETTERS_MAX))
    throw invalid('invalid_field', `${field}.utility`, `a utility is named in 1 to ${UTILITY_LETTERS_MAX} letters`);
}

/** A junction that nothing comes into, or nothing leaves, joins nothing. */
function checkJunctions(connections: readonly Connection[]): void {
  forAll(connections, ({ from, to }, index) => {
    const [source, target] = [from.junction, to.junction];
    if (source !== undefined && !connections.some((other) => other.to.junction === source))
      throw invalid('invalid_field', `connections[${index}].from.junction`, `no connection leads to junction ${source}`);
    if (target !== undefined && !connections.some((other) => other.from.junction === target))
      throw invalid('invalid_field', `connections[${index}].to.junction`, `no connection leads from junction ${target}`);
  });
}

/** The vessel in a layout; a control module of that name is `module vessel` there. */
const VESSEL = 'vessel';

/** @throws Refusal 400 for a thing that stands twice, or that is neither the vessel, an end or junction of the connections, nor a name of a module. */
export function checkLayout(layout: readonly LayoutPlace[], connections: readonly Connection[]): void {
  if (layout.length > PLACES_MAX) throw invalid('invalid_field', 'layout', `at most ${PLACES_MAX} places`);
  const isThing = thingsOf(connections);
  forAll(layout, ({ item }, index) => {
    const field = `layout[${index}].item`;
    if (layout.findIndex((other) => other.item === item) < index) throw invalid('invalid_field', field, `${item} stands twice in the layout`);
    if (!isThing(item)) throw invalid('invalid_field', field, `${item} is no thing of this unit: a module, vessel, or an end of its connections`);
  });
}

/** Without the places that stood before of ends that the connections do not have any more: who changes the pipes alone is not refused for them. */
export function layoutOf(layout: readonly LayoutPlace[], before: readonly LayoutPlace[], connections: readonly Connection[]): LayoutPlace[] {
  const isThing = thingsOf(connections);
  return layout.filter((place) => isThing(place.item) || !before.some(({ item, column, row }) => item === place.item && column === place.column && row === place.row));
}

function thingsOf(connections: readonly Connection[]): (item: string) => boolean {
  const known = new Set([VESSEL, `module ${VESSEL}`, ...placedEnds(connections)]);
  return (item) => known.has(item) || isResourceName(item);
}

/**
 * Ends by the words that a layout names them with: `junction header`, `from Monomer`, `to tk201`, and `to tk201 2` for a second one, by the least number
 * that no other end has. The console names them likewise (unit-picture.ts).
 */
export function placedEnds(connections: readonly Connection[]): string[] {
  const found = new Set<string>();
  for (const { from, to } of connections) {
    for (const [way, end] of [
      ['from', from],
      ['to', to],
    ] as const) {
      if (end.part !== undefined) continue;
      if (end.junction === undefined) found.add(free(`${way} ${endName(end)}`, found));
      else found.add(endName(end));
    }
  }
  return [...found];
}

function free(name: string, taken: ReadonlySet<string>): string {
  for (let count = 1; ; count += 1) {
    const item = count === 1 ? name : `${name} ${count}`;
    if (!taken.has(item)) return item;
  }
}
