/**
 * The demonstration plant (decisions 9, Q-TIER-10): the manifests beside the build applied as they are, and the recipes
 * marked for it taken through approve, release and activate with ordinary signatures. The start does it once per version of
 * the manifests. Nobody's work is overwritten: what is not as the demonstration left it, and a recipe past Draft, is left alone.
 */
import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { conflict, Refusal } from '../../platform/base/refusal.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { canonicalJson } from '../../platform/ledger/canonical-json.js';
import type { Actor, AuditDraft } from '../../platform/store/audit-record.js';
import { applyManifests } from '../apply/apply.js';
import type { ApplyActor } from '../apply/context.js';
import type { AppliedKinds } from '../apply/kinds.js';
import { DemoMark, DEMO_MARK } from './kind.js';
import { type LifecycleActor, type LifecycleDeps, moveRecipe } from '../recipes/lifecycle.js';
import { realDevice } from './time-scale.js';
import { MasterRecipe } from '../recipes/kind.js';

export const DEMO_SITE = 'demo';
const MANAGED_BY = 'lineside.io/managed-by';
const ACTIVATE = 'lineside.io/demo-activate';
const REASON = 'demo provisioning';
const STEPS = ['approve', 'release', 'activate'] as const;

export interface DemoParts extends LifecycleDeps {
  readonly kinds: AppliedKinds;
  /** Setting `demo.enabled`. */
  readonly enabled: boolean;
  readonly production: boolean;
  /** Folder of the manifests, `demo/` beside the build. */
  readonly folder: string;
}

export const Provisioned = v.strictObject({
  site: v.string(),
  created: v.number(),
  configured: v.number(),
  unchanged: v.number(),
  /** Not as the demonstration left them: somebody has worked on them, and they stay as they are. */
  kept: v.number(),
  activatedRecipes: v.array(v.string()),
});
export type Provisioned = ToldBy<typeof Provisioned>;

export const DemoStatus = v.strictObject({
  enabled: v.boolean(),
  provisioned: v.boolean(),
  site: v.string(),
  manifests: v.strictObject({ expected: v.number(), present: v.number() }),
  timeScale: v.number(),
  operatingMode: v.picklist(['production', 'development']),
});
export type DemoStatus = ToldBy<typeof DemoStatus>;

nameSchemas({ DemoStatus });

interface RawManifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Readonly<Record<string, string>> };
}

/** All manifests in file-name order, each labelled as managed by the demo. */
export function demoManifests(dir: string): readonly RawManifest[] {
  const files = readdirSync(dir)
    .filter((file) => file.endsWith('.json'))
    .sort();
  return files
    .flatMap((file) => JSON.parse(readFileSync(path.join(dir, file), 'utf8')) as RawManifest[])
    .map((manifest) => ({ ...manifest, metadata: { ...manifest.metadata, labels: { ...manifest.metadata.labels, [MANAGED_BY]: 'demo' } } }));
}

/** Is being written: if the start is cut off here, the next one goes on with it. */
const PENDING = 'pending';

function keyOf({ kind, metadata }: RawManifest): string {
  return `${kind}/${metadata.name}`;
}

function versionOf(manifests: readonly RawManifest[]): string {
  return sha256(canonicalJson(manifests));
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const SYSTEM_DEMO: Actor = { accountId: 'system:demo', displayName: 'system:demo', actorType: 'component', component: 'demo' };

/** The identity `system:demo`, which may everything and signs as itself. */
function systemDemo(correlationID: string): ApplyActor & LifecycleActor {
  return {
    displayName: SYSTEM_DEMO.displayName,
    sites: null,
    isComponent: true,
    may: () => true,
    signatory: { accountId: SYSTEM_DEMO.accountId, displayName: SYSTEM_DEMO.displayName, groups: [], issuedAtMs: null },
    audit: (entry): AuditDraft => ({
      site: DEMO_SITE,
      action: 'Update',
      category: 'demo',
      target: { kind: 'Site', name: DEMO_SITE, site: DEMO_SITE },
      result: 'Success',
      ...entry,
      actor: SYSTEM_DEMO,
      correlationID,
    }),
  };
}

export class DemoPlant {
  readonly #parts: DemoParts;

  constructor(parts: DemoParts) {
    this.#parts = parts;
  }

  /** @throws Refusal 409 `demo_disabled`, 403 `production_mode`. */
  async provision(correlationID: string = randomUUID()): Promise<Provisioned> {
    const { enabled, production, folder, store, clock } = this.#parts;
    if (!enabled) throw conflict('demo_disabled', 'the demonstration plant is switched off; start with demo.enabled to use it');
    if (production) throw new Refusal('forbidden', 'the demonstration plant is not for production mode', { code: 'production_mode' });
    const actor = systemDemo(correlationID);
    const manifests = demoManifests(folder);
    const isAgain = store.get(DemoMark, '', DEMO_MARK)?.spec.version === versionOf(manifests);
    const mine = manifests.filter((manifest) => !this.#isKept(manifest, isAgain));
    await this.#mark(mine.map((manifest) => [keyOf(manifest), PENDING]));
    const applied = await applyManifests(mine, actor, { store, clock, kinds: this.#parts.kinds });
    const count = (operation: string): number => applied.filter((result) => result.operation === operation).length;
    const activatedRecipes = await this.#activate(actor);
    await this.#mark(mine.map((manifest) => [keyOf(manifest), this.#digestOf(manifest) ?? PENDING]), versionOf(manifests));
    const kept = manifests.length - mine.length;
    return { site: DEMO_SITE, created: count('created'), configured: count('configured'), unchanged: count('unchanged'), kept, activatedRecipes };
  }

  /** What a start does: nothing when these manifests were applied before. */
  async provisionOnce(): Promise<void> {
    const { folder, store } = this.#parts;
    if (store.get(DemoMark, '', DEMO_MARK)?.spec.version === versionOf(demoManifests(folder))) return;
    await this.provision();
  }

  /**
   * Whether somebody has worked on what the manifest describes since the demonstration wrote it, or before it did. A recipe that is
   * signed is kept as it was signed, unless these very manifests have been applied before (`isAgain`): then nothing of it changes.
   */
  #isKept(manifest: RawManifest, isAgain: boolean): boolean {
    const { kind, metadata } = manifest;
    const site = this.#parts.kinds.named(kind)?.scope === 'site' ? DEMO_SITE : '';
    if (this.#parts.store.isQuarantined({ kind, site, name: metadata.name })) return true; // what cannot be read is told, not written over
    const digest = this.#digestOf(manifest);
    if (digest === undefined) return false;
    const recipe = manifest.kind === MasterRecipe.kind ? this.#parts.store.get(MasterRecipe, DEMO_SITE, manifest.metadata.name) : undefined;
    const left = this.#parts.store.get(DemoMark, '', DEMO_MARK)?.spec.applied[keyOf(manifest)];
    if (recipe && recipe.status.phase !== 'Draft' && left !== PENDING && !isAgain) return true;
    return left !== PENDING && left !== digest;
  }

  /** Of what is stored; without the equipment mode, which operators set. Undefined when there is no such resource. */
  #digestOf({ kind, metadata }: RawManifest): string | undefined {
    const applied = this.#parts.kinds.named(kind);
    const stored = applied && this.#parts.store.get(applied, applied.scope === 'site' ? DEMO_SITE : '', metadata.name);
    if (!stored) return undefined;
    const { mode: _, ...spec } = stored.spec as { readonly mode?: unknown };
    const { labels, annotations } = stored.metadata;
    return sha256(canonicalJson({ spec, labels, annotations }));
  }

  async #mark(entries: readonly (readonly [string, string])[], version?: string): Promise<void> {
    const { store } = this.#parts;
    const before = store.get(DemoMark, '', DEMO_MARK)?.spec ?? { version: '', applied: {} };
    const spec = { version: version ?? before.version, applied: { ...before.applied, ...Object.fromEntries(entries) } };
    await store.write({ puts: [{ kind: DemoMark, site: '', name: DEMO_MARK, spec }] });
  }

  async #activate(actor: LifecycleActor): Promise<string[]> {
    // what the files mark, not what a label in the store says
    const marked = demoManifests(this.#parts.folder).filter(({ kind, metadata }) => kind === MasterRecipe.kind && metadata.labels?.[ACTIVATE] === 'true');
    const names = marked.map(({ metadata }) => metadata.name).filter((name) => this.#parts.store.get(MasterRecipe, DEMO_SITE, name)?.status.phase === 'Draft').sort();
    for (const name of names) for (const step of STEPS) await moveRecipe(this.#parts, DEMO_SITE, name, step, REASON, actor);
    return names;
  }

  /**
   * Above 1 only in development mode and only while every I/O module of the appliance is simulated (decisions 6.7).
   * @throws Refusal 409 `time_scale_refused`.
   */
  checkTimeScale(timeScale: number): void {
    if (timeScale === 1) return;
    const { production, store } = this.#parts;
    const real = realDevice(store);
    if (production) throw conflict('time_scale_refused', 'the time scale is 1 in production mode');
    if (real) throw conflict('time_scale_refused', `I/O module ${real.metadata.name} is a real device; the time scale stays 1`, { ioModule: real.metadata.name });
  }

  status(timeScale: number): DemoStatus {
    const { enabled, production, folder, store } = this.#parts;
    const manifests = demoManifests(folder);
    const present = manifests.filter(({ kind, metadata }) => {
      const applied = this.#parts.kinds.named(kind);
      return applied !== undefined && store.get(applied, applied.scope === 'site' ? DEMO_SITE : '', metadata.name) !== undefined;
    }).length;
    return {
      enabled,
      provisioned: present === manifests.length,
      site: DEMO_SITE,
      manifests: { expected: manifests.length, present },
      timeScale,
      operatingMode: production ? 'production' : 'development',
    };
  }
}
