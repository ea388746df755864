/** What the fields of an electronic signature mean (decisions 8.6, 21 CFR 11.50). */

export const SIGNATURE_SUBJECT_WORDS = {
  apiVersion: 'Version of the interface of the kind that was signed.',
  kind: 'Kind of what was signed.',
  namespace: 'Namespace of its site; empty where it belongs to none.',
  name: 'Its name among those of its kind.',
  revision: 'Which of its revisions was signed.',
  digest: 'SHA-256 of the canonical form of its spec, lower-case hex, at the time of signing.',
} as const;

export const SIGNER_WORDS = {
  accountId: 'Account of the person who signed.',
  displayName: 'Name of the person, as it was then.',
  groups: 'Groups of the account, as they were then.',
} as const;

export const SIGNED_RECORD_WORDS = {
  id: 'Id of the signature, a UUID.',
  meaning: ['What was meant by it.', 'change-approve'],
  signer: 'Who signed.',
  authMode: 'How people sign in at the box: local, oidc or none.',
  signedAt: 'When it was signed, RFC 3339 in UTC.',
  tokenIssuedAt: 'When the person had last proven who he is; empty where nobody signs in.',
  reason: 'Why, in the words of the person.',
  subject: 'What was signed.',
  content: 'Further facts that were signed with it.',
  algorithm: 'Of the value: HMAC-SHA256 or Ed25519.',
  keyId: 'First 16 hex digits of the SHA-256 of the key.',
  value: 'The signature over the canonical form of all other members, base64.',
} as const;

export const SIGNATURE_STATE_WORDS = {
  state: ['Valid, Withdrawn, Superseded (by a newer one of the same person and meaning, or by a change of what was signed) or Broken (not genuine).', 'Valid'],
  why: 'Why it is not Valid, in words.',
  words: 'Name, time, meaning, reason and state in one sentence, as it is printed.',
} as const;

export const SIGNATURE_CHECK_WORDS = {
  check:
    'digest: of the signed record; value: the signature over it; key: whose it is; row: the seal of its row; chain: its record of the audit trail; content: what is signed, as it is now; standing: neither withdrawn nor superseded.',
  ok: 'null where there is nothing to check.',
  message: 'What was found, in words.',
} as const;
