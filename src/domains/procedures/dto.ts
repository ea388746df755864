/** Read bodies of procedural templates and resources (contract 3, Procedural resources; decisions 1.7). */
import { metadataBody } from '../../platform/store/read-body.js';
import type { Resource } from '../../platform/store/resource.js';
import { PhaseTemplate, type PhaseTemplateSpec } from './kind.js';
import { templateNotes } from './template-notes.js';

export function templateBody({ metadata, spec, ...resource }: Resource): unknown {
  const notes = resource.kind === PhaseTemplate.kind ? templateNotes(spec as PhaseTemplateSpec) : [];
  return { name: metadata.name, spec, ...(notes.length > 0 ? { notes } : {}), ...metadataBody({ metadata, spec, ...resource }) };
}
