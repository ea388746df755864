/** What a batch is judged by when a manifest writes it. */
import { ruled } from '../../platform/store/kind.js';
import { admitApplied } from './creation/creation.js';
import { Batch } from './kind.js';

/** Generic apply; the routes check with the operating mode at hand. */
export const batchRules = ruled(Batch, {
  refuses: { write: { 400: ['unknown_reference', 'out_of_range'], 409: ['batch_id_in_use', 'chart_invalid', 'recipe_not_effective'] } },
  admit: (spec, { read, site, name, via }) => (via === 'apply' ? admitApplied(read, site, name, spec) : spec),
});
