/** What verification finds wrong with a record of the audit trail, and with a file of its archive (decisions 8.6). */
export const CHAIN_PROBLEMS = ['hash', 'link', 'missing', 'signature'] as const;
export type ChainProblem = (typeof CHAIN_PROBLEMS)[number];

export const ARCHIVE_PROBLEMS = ['absent', 'unreadable', 'repacked', 'trailer', 'sha256', 'note', ...CHAIN_PROBLEMS] as const;
export type ArchiveProblem = (typeof ARCHIVE_PROBLEMS)[number];
