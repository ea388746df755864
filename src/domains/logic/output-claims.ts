/** Outputs that blocks go on writing, each of which has one owner (ADR 0071), and what is refused of a second claim. Pure but for reading. */
import { conflict, invalid, type Refusal, refuseAll } from '../../platform/base/refusal.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { channelAt, nameOfOutput } from './channel-at.js';
import { ControlProgram, type ControlProgramSpec } from './kind.js';

export interface Claim {
  /** `<io module>:<channel name>` */
  readonly output: string;
  readonly block: string;
  /** Member of the spec that says it. */
  readonly path: string;
}

const WRITING_BLOCKS: readonly string[] = ['AO', 'DO'];

export function claimsOfProgram(read: StoreReader, site: string, { blocks }: Pick<ControlProgramSpec, 'blocks'>): readonly Claim[] {
  return blocks.flatMap(({ name, type, params }, index): readonly Claim[] => {
    if (!WRITING_BLOCKS.includes(type)) return [];
    const channel = String(params.addr ?? '');
    const found = channelAt(read, site, channel);
    return found?.direction === 'output' ? [{ output: nameOfOutput(channel, found), block: name, path: `blocks[${index}].params.addr` }] : [];
  });
}

/** Others who own an output, as `<module or program>.<block>`. */
export type OthersOf = (output: string) => readonly string[];

/** What is refused of the claims that were not made before: what stands already is told, and any other edit of it is taken. */
export function refusedClaims(claims: readonly Claim[], before: readonly Claim[], othersOf: OthersOf): readonly Refusal[] {
  const had = new Map<string, number>();
  for (const { output } of before) had.set(output, (had.get(output) ?? 0) + 1);
  const own = new Map<string, string>();
  return claims.flatMap(({ output, block, path }) => {
    const left = had.get(output) ?? 0;
    had.set(output, left - 1);
    const twin = own.get(output);
    own.set(output, block);
    if (left > 0) return [];
    if (twin !== undefined) return [invalid('invalid_field', path, `output ${output} is written by block ${twin} too: one output has one block that writes it`)];
    const others = othersOf(output);
    if (others.length === 0) return [];
    const message = `output ${output} is written by ${others.join(' and ')}, and an output has one that writes it: take it from there, in the same apply if you like, or name another channel`;
    return [conflict('output_claimed', message, { field: path, output, owner: others[0] ?? '' })];
  });
}

interface ProgramClaimant {
  readonly read: StoreReader;
  readonly site: string;
  readonly name: string;
  readonly before: { readonly spec: ControlProgramSpec } | undefined;
}

/** The logic of a control module is a program of its name, so all owners are programs. @throws Refusal `output_claimed`, or 400 of a twin. */
export function refuseClaimed(spec: ControlProgramSpec, { read, site, name, before }: ProgramClaimant): void {
  const claims = claimsOfProgram(read, site, spec);
  if (claims.length === 0) return;
  const others = new Map<string, string[]>();
  for (const { metadata, spec: other } of read.list(ControlProgram, site)) {
    if (metadata.name === name) continue;
    for (const { output, block } of claimsOfProgram(read, site, other)) others.set(output, [...(others.get(output) ?? []), `${metadata.name}.${block}`]);
  }
  const placed = claims.map((claim) => ({ ...claim, path: `spec.${claim.path}` }));
  refuseAll(refusedClaims(placed, before ? claimsOfProgram(read, site, before.spec) : [], (output) => others.get(output) ?? []));
}
