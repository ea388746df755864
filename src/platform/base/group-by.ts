/** Items by a key, keys and items in the order of the input (`Map.groupBy` of later versions of Node). */
export function groupBy<Item, Key = string>(items: readonly Item[], key: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const name = key(item);
    const group = groups.get(name);
    if (group) group.push(item);
    else groups.set(name, [item]);
  }
  return groups;
}
