/**
 * What an I/O module signs in with, kept sealed (decisions 7.5; ADR 0075). Internal kind: written through its own routes, never applied,
 * exported, searched or shown; what is stored opens on this box alone.
 */
import * as v from 'valibot';
import type { Kind } from '../../platform/store/kind.js';

/** In the order in which they are told; the names of the files in `secrets.dir` as well. */
export const SECRET_MEMBERS = ['username', 'password', 'certificate', 'key'] as const;
export type SecretMember = (typeof SECRET_MEMBERS)[number];

export const SecretSpec = v.strictObject({
  /** Sealed text of each member that is set (platform/base/sealing.ts). */
  members: v.strictObject({ username: v.optional(v.string()), password: v.optional(v.string()), certificate: v.optional(v.string()), key: v.optional(v.string()) }),
});
export type SecretSpec = v.InferOutput<typeof SecretSpec>;

export const Secret: Kind<SecretSpec, Readonly<Record<string, never>>> = {
  kind: 'Secret',
  group: 'system',
  scope: 'site',
  action: 'secret',
  spec: SecretSpec,
  body: 'document',
  apply: { how: 'no', reason: 'a secret is set through its own routes, on the box that uses it' },
  initialStatus: () => ({}),
  redact: () => ({ members: {} }),
};

/** Where secrets are looked up; the gateway learns only whether they are there, never their content. */
export interface Secrets {
  /** Undefined when the secret store cannot be read. */
  exists(site: string, name: string): boolean | undefined;
}
