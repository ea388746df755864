/** What is said where the audit trail should tell of something, and part of it cannot be read: that part may tell. */
export function unreadPart(files: readonly string[]): string {
  return `part of it is archived in ${files.join(', ')}, not in the archive folder or not readable: put it back`;
}

/** Of what has to be in the trail and was not found in it. */
export function untold(unreadable: readonly string[] = []): string {
  return unreadable.length === 0 ? 'the audit trail does not tell of it' : `it was not found in the audit trail, and ${unreadPart(unreadable)}`;
}
