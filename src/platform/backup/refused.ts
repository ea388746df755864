/** Why a backup is not made, or not taken. The message goes on from the name of the file, or is a sentence of its own. */
export class BackupRefused extends Error {}
