/** What a search looks at of a row that is past, as the query thread gives it. */

/** Stands for the name of the run in what was read of it: no name has this character, and no text that was written. */
export const RUN_NAME = '\x7f';

/** The name of the run is replaced: two runs of one recipe differ in little else. */
export type PastText = readonly [
  kind: string,
  name: string,
  /** Texts of the spec, then `labels.<key>`, as they were written. */
  texts: readonly (readonly [member: string, text: string])[],
];

/** JSON of the `PastText` of a row; undefined where it cannot be read. Texts of more characters than `lengthMax` are left out. */
export function pastTextOf(body: unknown, run: string, lengthMax: number): string | undefined {
  try {
    const { kind, metadata, spec } = JSON.parse(String(body)) as { kind: string; metadata: { name: string; labels: Record<string, string> }; spec: object };
    const texts = Object.entries(spec).filter((member): member is [string, string] => typeof member[1] === 'string' && member[1] !== '' && member[1].length <= lengthMax);
    const labels = Object.entries(metadata.labels).map(([key, value]) => [`labels.${key}`, value] as const);
    const templates = [...texts, ...labels].map(([member, text]) => [member, text.replaceAll(run, RUN_NAME)] as const);
    return JSON.stringify([kind, metadata.name.replaceAll(run, RUN_NAME), templates] satisfies PastText);
  } catch {
    return undefined;
  }
}
