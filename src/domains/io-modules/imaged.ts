/** The process image of an I/O module as it is read beside the scans: a sample for each channel of its plan. */
import type { ChannelSample, ImagePlan } from '../../../runtime/port.js';
import { IMAGE_HEADER, ProcessImage } from '../../../runtime/vocabulary/process-image.js';
import { type Quality, QUALITY_WORDS } from '../../../runtime/vocabulary/quality.js';
import { inside } from '../../platform/base/assert.js';

export interface Imaged extends Pick<ChannelSample, 'value' | 'atMs' | 'forced'> {
  readonly quality: Quality;
}

const texts = new TextDecoder();

export function imaged(plan: ImagePlan | undefined): readonly Imaged[] {
  if (!plan) return [];
  const image = new ProcessImage(plan.channels.length, plan.buffer);
  const value = new Float64Array(image.size);
  const atMs = new Float64Array(image.size);
  const quality = new Uint8Array(image.size);
  image.latch({ value, sampledAtMs: atMs, sampledMonoMs: new Float64Array(image.size), quality });
  const isSilent = Atomics.load(image.header, IMAGE_HEADER.silent) === 1;
  return plan.channels.map(({ dataType }, channel) => {
    const place = <T>(list: ArrayLike<T>): T => inside(list, channel, 'the image of a module has a place for each channel of its plan');
    const sampledAtMs = place(atMs);
    const raw = place(value);
    const seen = { atMs: sampledAtMs, quality: sampledAtMs === 0 || isSilent ? 'Bad' : (QUALITY_WORDS[place(quality)] ?? 'Bad'), forced: false };
    if (sampledAtMs === 0) return { ...seen, value: null };
    if (dataType === 'string') return { ...seen, value: texts.decode(image.getText(channel)) };
    if (dataType === 'bool') return { ...seen, value: raw !== 0 };
    // an integer beyond 2^53 has its digits as text
    return { ...seen, value: dataType === 'int' && !Number.isSafeInteger(raw) ? texts.decode(image.getText(channel)) : raw };
  });
}
