/** What the fields of a change request mean (contract 3, Other kinds; decisions Q-CHANGE-01). */

export const CHANGE_TARGET_WORDS = {
  apiVersion: ['Version of the interface of the kind.', 'control.lineside.io/v1alpha1'],
  kind: ['Kind of what shall be changed.', 'ControlProgram'],
  name: ['Its name. It stands in the site of the request, or belongs to no site.', 'tank-level'],
} as const;

export const CHANGE_EVIDENCE_WORDS = {
  kind: ['Kind of what speaks for the change.', 'SignatureRecord'],
  name: 'Its name; of a signature its id.',
  digest: 'What it is, as it says of itself: the request is refused where it says something else.',
} as const;

export const CHANGE_REQUEST_WORDS = {
  target: 'What shall be changed.',
  operation: 'Create: it is not there yet; Update: it is there; Delete: it shall go.',
  reason: ['Why, in the words of who asks.', 'level control oscillates since the pump was replaced'],
  description: 'What an approver should know beside the reason.',
  risk: 'What is at stake, as who asks sees it. It is shown and has no effect.',
  manifest: 'The resource as it shall be, as apply takes it. It is applied with the approval; without it the request is evidence of a decision.',
  evidence: 'What speaks for the change: signatures, sealed records and sheets, revisions of a recipe.',
  signatures: 'Made by the gateway when the request is created, approved or rejected; empty in what is sent.',
} as const;
