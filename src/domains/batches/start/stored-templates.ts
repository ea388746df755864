/** Templates as they stand in the store now; instantiation freezes them. */
import type { StoreReader } from '../../../platform/store/kind.js';
import { templateNamed } from '../../recipes/used-templates.js';
import type { Templates } from './instantiation.js';

export function storedTemplates(read: StoreReader, site: string): Templates {
  return { get: (kind: string, name: string) => templateNamed(read, site, kind, name)?.spec } as Templates;
}
