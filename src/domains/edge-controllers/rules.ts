/** Rules of controllers: label syntax (decisions Q-UNIT-02) and what a delete would leave without a box. */
import { invalid } from '../../platform/base/refusal.js';
import { isLabelValue, readLabelKey } from '../../platform/store/envelope.js';
import { ruled } from '../../platform/store/kind.js';
import { Controller, type ControllerSpec } from './kind.js';

const RESERVED = ['kubernetes.io', 'k8s.io', 'k3s.io'];

function admitController(spec: ControllerSpec): ControllerSpec {
  for (const [key, value] of Object.entries(spec.nodeLabels)) checkNodeLabel(key, value);
  return spec;
}

/** @throws Refusal `label_prefix` for an unprefixed or reserved key. */
export function checkNodeLabel(key: string, value: string): void {
  const field = `nodeLabels.${key}`;
  const prefix = readLabelKey(key)?.prefix;
  if (prefix === undefined) {
    throw invalid('label_prefix', field, `node label ${key} must have the form <dns-subdomain>/<name>, for example lineside.io/line`);
  }
  if (RESERVED.some((reserved) => prefix === reserved || prefix.endsWith(`.${reserved}`))) {
    throw invalid('label_prefix', field, `node label ${key} uses the reserved prefix ${prefix}; choose one of your own`);
  }
  if (!isLabelValue(value)) throw invalid('invalid_field', field, `value of node label ${key} must be at most 63 letters, digits, '-', '_' or '.'`);
}

export const controllerRules = ruled(Controller, { refuses: { write: { 400: ['label_prefix'] } }, admit: admitController });
