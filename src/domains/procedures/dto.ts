/** Read bodies of procedural templates and resources (contract 3, Procedural resources; decisions 1.7). */
import * as v from 'valibot';
import { nameSchemas } from '../../platform/base/schema-names.js';
import type { ToldBy } from '../../platform/http/replies.js';
import { metadataBody, SITE_METADATA, type SiteMetadata } from '../../platform/store/read-body.js';
import type { Resource } from '../../platform/store/resource.js';
import { OperationTemplateSpec, PhaseTemplate, PhaseTemplateSpec, ProcedureTemplateSpec } from './kind.js';
import { sequenceNotes, templateNotes } from './template-notes.js';

function templateBodyOf<const Spec extends v.GenericSchema>(spec: Spec) {
  return v.strictObject({ name: v.string(), spec, notes: v.optional(v.array(v.string())), ...SITE_METADATA });
}

export const PhaseTemplateBody = templateBodyOf(PhaseTemplateSpec);
/** Of operations and unit procedures. */
export const SequenceTemplateBody = templateBodyOf(OperationTemplateSpec);
export const ProcedureTemplateBody = templateBodyOf(ProcedureTemplateSpec);

nameSchemas({ PhaseTemplateBody, SequenceTemplateBody, ProcedureTemplateBody });

export function templateBody<Spec>({
  metadata,
  spec,
  ...resource
}: Resource<Spec>): Pick<ToldBy<typeof PhaseTemplateBody>, 'name' | 'notes'> & SiteMetadata & { readonly spec: Spec } {
  const notes = resource.kind === PhaseTemplate.kind ? templateNotes(spec as PhaseTemplateSpec) : sequenceNotes(spec as OperationTemplateSpec);
  return { name: metadata.name, spec, ...(notes.length > 0 ? { notes } : {}), ...metadataBody({ metadata, spec, ...resource }) };
}
