/** A resource that two manifests of one request say: both are applied (decisions Q-CHANGE-06), so one of them comes to nothing, and nobody may have meant it. */
import type { Step } from './judging.js';

/** @param steps in the order in which they are applied: those of one resource in that of the request. @returns warnings by the index of the manifest. */
export function saidTwice(steps: readonly Step[]): ReadonlyMap<number, readonly string[]> {
  const byName = new Map<string, Step[]>();
  for (const step of steps) {
    const key = `${step.manifest.kind.kind}/${step.site}/${step.manifest.name}`;
    const same = byName.get(key);
    if (same) same.push(step);
    else byName.set(key, [step]);
  }
  const twice = [...byName.values()].filter(({ length }) => length > 1);
  return new Map(twice.flatMap((same) => same.map(({ index, manifest }) => [index, [warningOf(manifest, same)]] as const)));
}

function warningOf({ kind, name }: Step['manifest'], same: readonly Step[]): string {
  const applied = same.map(({ index }) => index);
  const times = same.length === 2 ? 'twice' : `${same.length} times`;
  return `${kind.kind} ${name} stands ${times} in this request, as manifests ${applied.toSorted((a, b) => a - b).join(' and ')}: what manifest ${applied.at(-1)} says holds`;
}
