/** A resource that two manifests of one request say: they are applied in order (decisions Q-CHANGE-06), so the last one holds, and nobody may have meant it. */
import type { Step } from './judging.js';

/** @returns warnings by the index of the manifest. */
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
  const indexes = same.map(({ index }) => index);
  return `${kind.kind} ${name} stands ${same.length === 2 ? 'twice' : `${same.length} times`} in this request, as manifests ${indexes.join(' and ')}: what the last of them says holds`;
}
