/** Credentials of a box on which no secret was ever set. */
import { Credentials } from '../../src/domains/io-modules/credentials.js';

export const NO_CREDENTIALS = new Credentials({ stored: () => undefined, inFiles: async () => undefined });
