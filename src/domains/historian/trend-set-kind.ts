/** A set of curves that is kept on the box (ADR 0140): which tags, and how much of the past. It is a view of the plant and no part of it. */
import * as v from 'valibot';
import { describeFields } from '../../platform/base/field-words.js';
import { nameSchemas } from '../../platform/base/schema-names.js';
import { DurationText, LABEL_TEXT, Required, Text } from '../../platform/store/fields.js';
import type { Kind } from '../../platform/store/kind.js';

/** As many as one picture can be read with. */
const TAGS_MAX = 6;
const TITLE_LENGTH_MAX = 100;

const TrendTag = v.strictObject({ unit: Required, address: Required });

export const TrendSetSpec = v.strictObject({
  title: v.pipe(
    Required,
    v.check((text) => text.trim() !== '', 'must not be blank'),
    v.maxLength(TITLE_LENGTH_MAX, `must be at most ${TITLE_LENGTH_MAX} characters`),
    v.regex(LABEL_TEXT, 'must not contain control characters'),
  ),
  description: Text,
  tags: v.pipe(v.array(TrendTag), v.minLength(1), v.maxLength(TAGS_MAX)),
  window: v.optional(DurationText.wrapped, ''),
});
export type TrendSetSpec = v.InferOutput<typeof TrendSetSpec>;

nameSchemas({ TrendTag });
describeFields(TrendTag, { unit: ['Unit of the tag.', 'reactor-1'], address: ['Address of the tag in its unit.', 'tic101.pv'] });
describeFields(TrendSetSpec, {
  title: ['What people call it.', 'Heating of reactor 1'],
  description: 'What it is for.',
  tags: ['Tags with a curve, in this order.', [{ unit: 'reactor-1', address: 'tic101.pv' }]],
  window: ['How much of the past is shown. Empty: as the page shows it.', '30m'],
});

/** A tag that engineering took away leaves the set as it is: it is shown without it. */
export const TrendSet: Kind<TrendSetSpec, Readonly<Record<string, never>>> = {
  kind: 'TrendSet',
  group: 'control',
  scope: 'site',
  action: 'trendset',
  path: 'trendsets',
  spec: TrendSetSpec,
  body: 'flat',
  apply: { how: 'yes' },
  required: ['title', 'tags'],
  initialStatus: () => ({}),
};
