/** Outputs that blocks go on writing, each of which has one owner (ADR 0071), and what is refused of a second claim. Pure but for reading. */
import { conflict, invalid, type Refusal, refuseAll } from '../../platform/base/refusal.js';
import type { StoreReader } from '../../platform/store/kind.js';
import { IOModule, type IOModuleSpec } from '../io-modules/kind.js';
import { channelAt, channelIn, namesAt, nameOfOutput } from './channel-at.js';
import { ChannelMentions, channelsNamed, mentionsOf } from './channel-mentions.js';
import { ControlProgram, type ControlProgramSpec, ioModuleOf } from './kind.js';
import { outputPlaces, type Reached } from './output-places.js';

export interface Claim {
  /** `<io module>:<channel name>` */
  readonly output: string;
  readonly block: string;
  /** Member of the spec that says it. */
  readonly path: string;
  /** It is written while no logic writes its module. */
  readonly isFailSafe?: boolean;
}

/** A fail-safe value gives way to the logic of its own I/O module; who writes its place through another one writes against it. */
export function contend(one: Pick<Claim, 'output' | 'isFailSafe'>, other: Pick<Claim, 'output' | 'isFailSafe'>): boolean {
  return (!one.isFailSafe && !other.isFailSafe) || ioModuleOf(one.output) !== ioModuleOf(other.output);
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

/** Who owns an output beside whoever claims it. */
export interface OtherOwner {
  /** `<module or program>.<block>` */
  readonly owner: string;
  /** As the owner calls it, `<io module>:<channel name>`. */
  readonly output: string;
  readonly isFailSafe?: boolean;
}
export type OthersOf = (output: string) => readonly OtherOwner[];

/** The names of what an I/O module writes by itself, where others have the name of a block. */
export const HEARTBEAT = 'heartbeat';
export const FAIL_SAFE = 'failSafe';

/** What an I/O module writes by itself: its heartbeat, and its fail-safe values while no logic writes it. */
export function claimsOfIOModule(name: string, { failSafe, channels }: Pick<IOModuleSpec, 'failSafe' | 'channels'>): readonly Claim[] {
  if (!failSafe) return [];
  const claim = (word: string, rest: Omit<Claim, 'output'>): readonly Claim[] => {
    const found = word === '' ? undefined : channelIn({ channels }, word);
    return found?.direction === 'output' ? [{ output: nameOfOutput(`${name}:`, found), ...rest }] : [];
  };
  return [
    ...claim(failSafe.heartbeatChannel, { block: HEARTBEAT, path: 'failSafe.heartbeatChannel' }),
    ...failSafe.outputs.flatMap(({ channel }, index) => claim(channel, { block: FAIL_SAFE, path: `failSafe.outputs[${index}].channel`, isFailSafe: true })),
  ];
}

/** Of an owner: `xv1.dout`, or with the other name of the output behind it. */
export function sayOwner({ owner, output }: OtherOwner, as = output): string {
  return output === as ? owner : `${owner} (as ${output}, the same place of the device or a part of it)`;
}

const WAY_OUT = 'take it from there, in the same apply if you like, or name another channel';

/**
 * What is refused of the claims that were not made before: what stands already is told, and any other edit of it is taken.
 * @param wayOut what whoever claims can do.
 */
export function refusedClaims(claims: readonly Claim[], before: readonly Claim[], reached: Reached, othersOf: OthersOf, wayOut = WAY_OUT): readonly Refusal[] {
  const had = new Map<string, number>();
  const keyOf = ({ output, isFailSafe = false }: Claim): string => `${isFailSafe} ${output}`;
  for (const claim of before) had.set(keyOf(claim), (had.get(keyOf(claim)) ?? 0) + 1);
  const own = new Map<string, Claim>();
  return claims.flatMap((claim) => {
    const { output, path } = claim;
    const left = had.get(keyOf(claim)) ?? 0;
    had.set(keyOf(claim), left - 1);
    const [twin] = reached(output).flatMap((name) => {
      const before = own.get(name);
      return before && contend(before, claim) ? [{ owner: `block ${before.block}`, output: name }] : [];
    });
    own.set(output, claim);
    if (left > 0) return [];
    if (twin !== undefined) return [invalid('invalid_field', path, `output ${output} is written by ${sayOwner(twin, output)} too: one output has one block that writes it`)];
    const others = othersOf(output).filter((other) => contend(other, claim));
    if (others.length === 0) return [];
    const words = others.map((other) => sayOwner(other, output)).join(' and ');
    const message = `output ${output} is written by ${words}, and an output has one that writes it: ${wayOut}`;
    return [conflict('output_claimed', message, { field: path, output, owner: others[0]?.owner ?? '' })];
  });
}

/** Programs that stand on their own and those of control modules. */
const namedByPrograms = new ChannelMentions<ControlProgramSpec>(({ spec: { blocks } }) =>
  channelsNamed(blocks.map(({ type, params }) => (WRITING_BLOCKS.includes(type) ? params.addr : ''))),
);

export const NO_BLOCKS: Pick<ControlProgramSpec, 'blocks'> = { blocks: [] };

interface ProgramClaimant {
  readonly read: StoreReader;
  readonly site: string;
  readonly name: string;
  readonly before: { readonly spec: ControlProgramSpec } | undefined;
}

/** The logic of a control module is a program of its name, so all owners are programs, and heartbeats. @throws Refusal `output_claimed`, or 400 of a twin. */
export function refuseClaimed(spec: ControlProgramSpec, { read, site, name, before }: ProgramClaimant): void {
  const claims = claimsOfProgram(read, site, spec);
  if (claims.length === 0) return;
  const reached = outputPlaces(read, site);
  const named = namedByPrograms.of(read.list(ControlProgram, site));
  const othersAt = (place: string): readonly OtherOwner[] => {
    const programs = new Set(namesAt(read, site, place).flatMap((channel) => mentionsOf(named, channel)));
    const module = read.get(IOModule, site, ioModuleOf(place));
    const claimed = [...programs]
      .filter((other) => other !== name)
      .sort()
      .map((other) => [other, claimsOfProgram(read, site, read.get(ControlProgram, site, other)?.spec ?? NO_BLOCKS)] as const);
    const beating = module ? [[module.metadata.name, claimsOfIOModule(module.metadata.name, module.spec)] as const] : [];
    return [...claimed, ...beating].flatMap(([by, of]) =>
      of.filter(({ output }) => output === place).map(({ output, block, isFailSafe = false }) => ({ owner: `${by}.${block}`, output, isFailSafe })),
    );
  };
  const placed = claims.map((claim) => ({ ...claim, path: `spec.${claim.path}` }));
  const had = before ? claimsOfProgram(read, site, before.spec) : [];
  refuseAll(refusedClaims(placed, had, reached, (output) => reached(output).flatMap(othersAt)));
}
