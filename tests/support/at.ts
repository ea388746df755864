/** What a test takes out of a list or a record is there, or the test fails and says what is missing. */

export function at<T>(list: ArrayLike<T>, place: number): T;
export function at<T>(record: Readonly<Record<string, T>>, key: string): T;
export function at<T>(from: ArrayLike<T> | Readonly<Record<string, T>>, place: number | string): T {
  const found = (from as Readonly<Record<number | string, T>>)[place];
  if (found === undefined) throw new Error(`nothing stands at ${place} of ${Object.keys(from).join(', ')}`);
  return found;
}

type Leading<T, Count extends number, Taken extends readonly T[] = readonly []> = Taken['length'] extends Count ? Taken : Leading<T, Count, readonly [...Taken, T]>;

/** The first elements of a list, as many as are asked for. */
export function leading<T, const Count extends number>(list: readonly T[], count: Count): Leading<T, Count> {
  if (list.length < count) throw new Error(`${count} elements are wanted of ${list.length}`);
  return list.slice(0, count) as readonly T[] as Leading<T, Count>;
}
