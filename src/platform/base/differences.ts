/** What has changed between two documents, place by place, in words that a person and a record can keep. Pure. */

export interface Difference {
  /** `blocks[pid].params.kp`: members by name, items by what they are called, else by their number from 0. */
  readonly place: string;
  /** '' where there was nothing. */
  readonly from: string;
  /** '' where there is nothing any more. */
  readonly to: string;
}

const TEXT_LENGTH_MAX = 200;

/** In the order of the old document, then what has come new. */
export function differences(from: unknown, to: unknown): Difference[] {
  const [before, after] = [new Map<string, string>(), new Map<string, string>()];
  flatten(from, '', before);
  flatten(to, '', after);
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((place) => {
    const [was, is] = [before.get(place) ?? '', after.get(place) ?? ''];
    return was === is ? [] : [{ place, ...apart(was, is) }];
  });
}

function flatten(value: unknown, place: string, places: Map<string, string>): void {
  if (value === undefined || value === null) return;
  if (typeof value !== 'object') {
    places.set(place, String(value));
    return;
  }
  if (Array.isArray(value)) {
    value.forEach((item: unknown, index) => {
      const own = `${place}[${labelOf(item) ?? index}]`;
      flatten(item, places.has(own) ? `${place}[${index}]` : own, places);
    });
    return;
  }
  for (const [key, member] of Object.entries(value)) flatten(member, place === '' ? key : `${place}.${key}`, places);
}

/** Names of what engineering lists: a block, a parameter of one, a connection by where it ends, a variable. */
function labelOf(item: unknown): string | undefined {
  if (typeof item !== 'object' || item === null) return undefined;
  const { name, blockRef, param, portRef, destBlock, destPort, variable } = item as Readonly<Record<string, unknown>>;
  const words = [[name], [blockRef, param], [variable, blockRef, portRef], [destBlock, destPort]].find((parts) => parts.every((part) => typeof part === 'string' && part !== ''));
  return words?.join('.');
}

/** Of long texts what differs, so that the two do not read alike. */
function apart(from: string, to: string): Pick<Difference, 'from' | 'to'> {
  if (from.length <= TEXT_LENGTH_MAX && to.length <= TEXT_LENGTH_MAX) return { from, to };
  let same = 0;
  while (same < from.length && same < to.length && from[same] === to[same]) same += 1;
  const cut = (text: string): string => {
    const rest = text.slice(same, same + TEXT_LENGTH_MAX).replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '');
    return `${same > 0 ? '...' : ''}${rest}${same + TEXT_LENGTH_MAX < text.length ? '...' : ''}`;
  };
  return { from: from === '' ? '' : cut(from), to: to === '' ? '' : cut(to) };
}
