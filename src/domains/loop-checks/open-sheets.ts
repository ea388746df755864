/** Sheets that an earlier life of the gateway has left open: which of them may be acted on, and what is told of the others (ADR 0104). */
import type { LedgerQueries } from '../../platform/ledger/queries.js';
import type { Condition } from '../../platform/store/resource.js';
import type { Store } from '../../platform/store/store.js';
import { IOModule } from '../io-modules/kind.js';
import { AS_STEPPED } from '../io-modules/outputs.js';
import { LoopCheck } from './kind.js';

export type SheetRecords = Pick<LedgerQueries, 'isRowRecorded' | 'auditPage'>;

const ALTERED = 'the row of the sheet was changed past the product';
const SEALED_BEFORE = 'the row of the sheet was put back as it once was: the audit trail tells of its sealing';

const UNTOLD = 'files of the audit trail are missing, so that nobody can say whether the sheet was sealed';

/**
 * Why nothing may be driven out of the row of an open sheet; empty: it is the one that was written, and the check was still open.
 * @throws whatever kept it from being judged, which says nothing of the row.
 */
export async function unfitBecause(records: SheetRecords, site: string, name: string): Promise<string> {
  if (!(await records.isRowRecorded({ kind: LoopCheck.kind, site, name }))) return ALTERED;
  const { items, unreadable } = await sealing(records, site, name);
  if (items.length > 0) return SEALED_BEFORE;
  return (unreadable?.length ?? 0) > 0 ? UNTOLD : '';
}

/** Of a trail that cannot be read: false, so that what stands at the outputs is told. */
export async function isSealedByTrail(records: SheetRecords, site: string, name: string): Promise<boolean> {
  const signs = await sealing(records, site, name).catch(() => undefined);
  return (signs?.items.length ?? 0) > 0;
}

function sealing(records: SheetRecords, site: string, name: string): ReturnType<SheetRecords['auditPage']> {
  return records.auditPage({ kind: LoopCheck.kind, site, name, action: 'Sign', result: 'Success', category: 'loop-check', limit: 1 });
}

/** By the name of a check, which begins with its module and the UTC time of its begin. */
function placeOf(name: string): { readonly module: string; readonly begun: string } | undefined {
  const [, module, begun] = /^(.+)-(\d{14})-[0-9a-f]{4}$/.exec(name) ?? [];
  return module === undefined || begun === undefined ? undefined : { module, begun };
}

/** Rows of loop checks that cannot be read, by site and name. */
export function unreadableSheets(store: Pick<Store, 'faults'>): readonly { readonly site: string; readonly name: string; readonly module: string }[] {
  return store.faults.flatMap(({ kind, site, name, kept }) => {
    const place = kind === LoopCheck.kind && !kept ? placeOf(name) : undefined;
    return place ? [{ site, name, module: place.module }] : [];
  });
}

/** Why outputs of a module may stand as they were stepped, until a later check of it has come to its end; empty: nothing is known of any. */
function asStepped(store: Store, site: string, module: string, unreadable: readonly string[]): string {
  const sheets = store.list(LoopCheck, site).filter(({ metadata }) => placeOf(metadata.name)?.module === module);
  const ended = sheets.filter(({ spec, status }) => status.phase === 'Sealed' && spec.end?.reason === 'complete').map(({ metadata }) => metadata);
  // by the order of their writing: a clock that was set back would leave it for ever. Of a row that cannot be read its name is all there is
  const altered = sheets
    .filter(({ metadata, spec }) => spec.end?.reason === 'altered' && !ended.some(({ resourceVersion }) => resourceVersion > metadata.resourceVersion))
    .map(({ metadata, spec }) => `loop check ${metadata.name} (${spec.end?.message ?? ''})`);
  const unread = unreadable
    .filter((name) => !ended.some((check) => (placeOf(check.name)?.begun ?? '') > (placeOf(name)?.begun ?? '')))
    .map((name) => `loop check ${name} (its row cannot be read)`);
  const all = [...altered, ...unread];
  return all.length === 0
    ? ''
    : `outputs of I/O module ${module} may stand as they were stepped by ${all.join(' and ')}: look at them at the device, and go through them with a loop check`;
}

/** Modules that tell of outputs as stepped, or have a sheet by which they should. */
export function modulesAsStepped(store: Store): readonly { readonly site: string; readonly module: string }[] {
  const telling = store
    .list(IOModule)
    .flatMap(({ metadata: { site, name }, status }) => (status.conditions.some(({ type }) => type === AS_STEPPED) ? [{ site, module: name }] : []));
  const altered = store.list(LoopCheck).flatMap(({ metadata: { site, name }, spec }) => {
    const module = spec.end?.reason === 'altered' ? placeOf(name)?.module : undefined;
    return module === undefined ? [] : [{ site, module }];
  });
  return [...telling, ...altered];
}

/** Keeps condition `OutputsAsStepped` of a module. `unreadable`: names of its sheets that cannot be read and whose sealing the trail does not tell of. */
export function tellAsStepped(store: Store, site: string, module: string, unreadable: readonly string[]): void {
  const found = store.get(IOModule, site, module);
  if (!found || !store.accepting) return;
  const message = asStepped(store, site, module, unreadable);
  const { conditions } = found.status;
  if ((conditions.find(({ type }) => type === AS_STEPPED)?.message ?? '') === message) return;
  const told: Condition[] = message === '' ? [] : [{ type: AS_STEPPED, status: 'True', reason: 'NotReturned', message }];
  store.apply({ puts: [{ kind: IOModule, site, name: module, status: { ...found.status, conditions: [...conditions.filter(({ type }) => type !== AS_STEPPED), ...told] } }] });
}
