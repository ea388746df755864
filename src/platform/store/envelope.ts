/** Members that every resource document has beside its spec (decisions 1.1, Q-VER-03). */
import * as v from 'valibot';
import { invalid } from '../base/refusal.js';
import { freeMap } from './free-map.js';

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL_NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const PREFIX_MAX = 253;

/** `name`, or `<dns-subdomain>/name`: the prefix is undefined where there is none; null for what is neither. */
export function readLabelKey(key: string): { readonly prefix: string | undefined; readonly name: string } | null {
  const [first = '', second, ...more] = key.split('/');
  const [prefix, name] = second === undefined ? [undefined, first] : [first, second];
  if (more.length > 0 || !LABEL_NAME.test(name)) return null;
  return prefix === undefined || (prefix.length <= PREFIX_MAX && SUBDOMAIN.test(prefix)) ? { prefix, name } : null;
}

export function isLabelValue(value: string): boolean {
  return LABEL_VALUE.test(value);
}

const LabelKey = v.pipe(
  v.string(),
  v.check((key) => readLabelKey(key) !== null, "must have a key of letters, digits, '-', '_' and '.', at most 63, with or without a DNS name and / before it"),
);

/** Kubernetes syntax, as a tool that reads an export expects it. */
export const Labels = freeMap(v.pipe(v.string(), v.check(isLabelValue, "must be at most 63 letters, digits, '-', '_' or '.', with a letter or digit at both ends")), LabelKey);

/** The keys of labels; the values are free text. */
export const Annotations = freeMap(v.string(), LabelKey);

/** Under these prefixes the product writes what it wants to be read: its own labels, the copy of an order (ADR 0020). */
const OWN_DOMAIN = 'lineside.io';
/** Shown for who made something; anybody may say so, and nothing in the product trusts it (ADR 0020). */
const UNTRUSTED_KEYS: readonly string[] = ['lineside.io/managed-by', 'lineside.io/demo-activate'];

export function isReservedKey(key: string): boolean {
  const prefix = readLabelKey(key)?.prefix;
  return !UNTRUSTED_KEYS.includes(key) && prefix !== undefined && (prefix === OWN_DOMAIN || prefix.endsWith(`.${OWN_DOMAIN}`));
}

type KeyMap = Readonly<Record<string, string>>;

/**
 * What a request may write of labels or annotations: its own keys, and those of the product as they are stored, whether it
 * sends them back or leaves them out. `open` are keys under our prefix that the kind gives to the engineer.
 * @throws Refusal 400 `reserved_key` for one whose value differs from the stored one.
 */
export function writtenKeys(given: KeyMap | undefined, stored: KeyMap = {}, field: string, open: readonly string[] = []): KeyMap | undefined {
  if (given === undefined) return undefined;
  const isOwn = (key: string): boolean => isReservedKey(key) && !open.includes(key);
  for (const [key, value] of Object.entries(given)) {
    if (!isOwn(key) || (Object.hasOwn(stored, key) && stored[key] === value)) continue;
    throw invalid('reserved_key', `${field}.${key}`, `${key} is reserved: only the product itself writes keys under ${OWN_DOMAIN}/; leave it out, or send it back as it was read`, {
      key,
    });
  }
  return { ...Object.fromEntries(Object.entries(stored).filter(([key]) => isOwn(key))), ...given };
}

const API_VERSION = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/v1alpha1$/;

/** The kind alone selects the resource; the group may be any, the version is this one. */
export function checkApiVersion(apiVersion: string): void {
  if (!API_VERSION.test(apiVersion)) throw invalid('invalid_field', 'apiVersion', `apiVersion ${apiVersion} must have the form <group>/v1alpha1`);
}

/** What a document may say of where it belongs, when the path says it already. */
export function checkDocument(body: unknown, site: string): void {
  const { apiVersion, metadata } = body as { readonly apiVersion?: string; readonly metadata?: { readonly namespace?: string } };
  if (apiVersion !== undefined) checkApiVersion(apiVersion);
  const namespace = metadata?.namespace;
  if (namespace && namespace !== `site-${site}`)
    throw invalid('invalid_field', 'metadata.namespace', `namespace ${namespace} is not that of the path, site-${site}; leave it out or send the same`);
}
