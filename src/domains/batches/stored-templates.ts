/** Templates as they stand in the store now; instantiation freezes them. */
import type { StoreReader } from '../../platform/store/kind.js';
import { OperationTemplate, PhaseTemplate, ProcedureTemplate, UnitProcedureTemplate } from '../procedures/kind.js';
import type { Templates } from './instantiation.js';

const KINDS = { PhaseTemplate, OperationTemplate, UnitProcedureTemplate, ProcedureTemplate } as const;

export function storedTemplates(read: StoreReader, site: string): Templates {
  return { get: (kind: keyof typeof KINDS, name: string) => read.get(KINDS[kind] as typeof PhaseTemplate, site, name)?.spec } as Templates;
}
