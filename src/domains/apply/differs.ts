/**
 * What will be otherwise here than where a manifest comes from (D-C-03): an export holds no secret and no signature, and this box may
 * withhold outputs. Each is a warning of the manifest that it is about, so that whoever moves a plant knows what is left to do.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Resource } from '../../platform/store/resource.js';
import type { Secrets } from '../io-modules/secret-kind.js';
import { IOModule, type IOModuleSpec } from '../io-modules/kind.js';
import { isEnabled, type OutputsOfBox, withheldByBox } from '../io-modules/outputs.js';
import { MasterRecipe, type MasterRecipeStatus } from '../recipes/kind.js';
import type { AnyKind } from './kinds.js';

/** Annotation of an exported manifest: the member of its spec that is a secret and was left out. Read and taken off by apply. */
export const LEFT_OUT = 'lineside.io/left-out';
const PASSWORD = 'options.password';

/** What a box has beside its store. */
export interface Box {
  /** Whether this box writes outputs at all. */
  readonly outputs: OutputsOfBox;
  readonly secrets: Secrets;
}

export interface Differing {
  readonly manifest: {
    readonly kind: AnyKind;
    readonly name: string;
    readonly status: Readonly<Record<string, unknown>> | undefined;
    readonly leftOut: string | undefined;
  };
  readonly site: string;
  /** As it is stored. */
  readonly spec: unknown;
  readonly before: Resource<unknown, unknown> | undefined;
  readonly box: Box | undefined;
}

/** The member that an export of the resource leaves out; '' when it is whole. */
export function leftOutOf(kind: AnyKind, spec: unknown): string {
  return kind.kind === IOModule.kind && (spec as IOModuleSpec).options.password !== undefined ? PASSWORD : '';
}

/** One sentence each, with what is to be done. */
export function differences(differing: Differing): string[] {
  const { kind } = differing.manifest;
  if (kind.kind === MasterRecipe.kind) return ofRecipe(differing);
  return kind.kind === IOModule.kind ? [...ofSecrets(differing), ...ofOutputs(differing)] : [];
}

/** Apply changes no phase, and a signature is given by a person on the box on which it counts. */
function ofRecipe({ manifest: { name, status }, before }: Differing): string[] {
  const there = typeof status?.phase === 'string' ? status.phase : undefined;
  const here = (before?.status as MasterRecipeStatus | undefined)?.phase ?? 'Draft';
  if (before ? there === undefined || there === here : there === 'Draft') return [];
  const was = there === undefined ? '' : `, and was ${there} where it comes from`;
  return [`recipe ${name} ${before ? `is ${here} here` : 'arrives as Draft'}${was}: signatures are given on this box (approve, release, activate), apply brings none`];
}

function ofSecrets({ manifest: { name, leftOut }, site, spec, box }: Differing): string[] {
  const { options, security } = spec as IOModuleSpec;
  const isMissing = leftOut !== undefined && options.password === undefined && security === undefined;
  const password = isMissing ? [`I/O module ${name} has a password where it comes from, which no export holds: set ${PASSWORD} here`] : [];
  const files = (['secretRef', 'clientCertificateRef'] as const).flatMap((member) => {
    const named = security?.[member]?.name;
    if (named === undefined || box?.secrets.exists(site, named) !== false) return [];
    return [
      `I/O module ${name} needs the secret ${named} (security.${member}), which is not on this box: set it there (PUT …/secrets/${named}, or lineside secret set ${named}), or put it into site-${site}/${named} of secrets.dir`,
    ];
  });
  return [...password, ...files];
}

/** Of one that is disabled its arrival is told already; one that stands here as it is sent is no news. */
function ofOutputs({ manifest: { name }, spec, before, box }: Differing): string[] {
  const module = spec as IOModuleSpec;
  const hasOutputs = module.channels.some(({ direction }) => direction === 'output');
  if (!hasOutputs || !isEnabled(module) || isDeepStrictEqual(spec, before?.spec)) return [];
  const withheld = withheldByBox(module, box?.outputs ?? 'live');
  return withheld === '' ? [] : [`outputs of I/O module ${name} are withheld: ${withheld}`];
}
