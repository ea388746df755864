/** Devices that this box does not write to, although it should. */
import { signal } from '@preact/signals';
import { getAll } from './api.js';
import { reader } from './plant-readers.js';
import { can } from './session.js';
import { atSite, BACKGROUND } from './site.js';
import type { IoModule } from './types.js';

/** Real devices whose outputs this box does not write (D-C-06). */
export const silent = signal<readonly IoModule[]>([]);

export const readOutputs = reader(
  async () => (can('iomodule:list') ? getAll<IoModule>(atSite('iomodules?limit=100'), BACKGROUND) : []),
  (found) => {
    const next = found.filter(({ simulated, outputs }) => !simulated && outputs !== undefined && outputs.state !== 'live');
    if (JSON.stringify(next.map(({ name, outputs }) => [name, outputs])) !== JSON.stringify(silent.peek().map(({ name, outputs }) => [name, outputs]))) silent.value = next;
  },
);
