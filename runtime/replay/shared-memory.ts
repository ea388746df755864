/** Plans on their way into a recording and back: shared memory stays behind and is made anew. */
import type { RecordedPlan, UnitPlan } from '../port.js';

export function withoutMemory({ table, scans, images, ...plan }: UnitPlan): RecordedPlan {
  return {
    ...plan,
    table: table.byteLength,
    ...(scans && { scans: scans.byteLength }),
    images: images.map((image) => ({ ...image, buffer: image.buffer.byteLength })),
  };
}

/** Memory of its own: what a replay drives reaches no device, and what it publishes no reader. */
export function withMemory({ table, scans, images, ...plan }: RecordedPlan): UnitPlan {
  return {
    ...plan,
    table: new SharedArrayBuffer(table),
    ...(scans !== undefined && { scans: new SharedArrayBuffer(scans) }),
    images: images.map((image) => ({ ...image, buffer: new SharedArrayBuffer(image.buffer) })),
  };
}
