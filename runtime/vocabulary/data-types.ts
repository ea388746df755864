/**
 * The data types of control values (contract 3, Structured-text language). Tags use the words of document 2, programs
 * the IEC 61131-3 names; both are accepted wherever a control data type is expected.
 */
export type DataType = 'BOOL' | 'INT' | 'REAL' | 'STRING' | 'TIME';
export type TagType = 'Boolean' | 'Integer' | 'Float' | 'String' | 'Time';

const PAIRS: readonly (readonly [TagType, DataType])[] = [
  ['Boolean', 'BOOL'],
  ['Integer', 'INT'],
  ['Float', 'REAL'],
  ['String', 'STRING'],
  ['Time', 'TIME'],
];

export const DATA_TYPES: readonly DataType[] = PAIRS.map((pair) => pair[1]);
export const TAG_TYPES: readonly TagType[] = PAIRS.map((pair) => pair[0]);

const TO_IEC = new Map<string, DataType>(
  PAIRS.flatMap(([tag, iec]) => [
    [tag, iec],
    [iec, iec],
  ]),
);
const TO_TAG = new Map<string, TagType>(
  PAIRS.flatMap(([tag, iec]) => [
    [tag, tag],
    [iec, tag],
  ]),
);

/** IEC 61131-3 name of a type written in either form; undefined for any other word. */
export function iecType(word: string): DataType | undefined {
  return TO_IEC.get(word);
}

/** Tag-descriptor name of a type written in either form; undefined for any other word. */
export function tagType(word: string): TagType | undefined {
  return TO_TAG.get(word);
}

/**
 * A value as it travels between threads and to the API: numbers for REAL and INT (decimal text beyond 2^53), TIME in
 * whole milliseconds inside the runtime, text for STRING; null when there is none.
 */
export type Value = number | boolean | string | null;
