import { StartRefused } from './start-refused.js';

/** A compiled library that this machine or this Node cannot load: nothing of the program is wrong, and nothing has been touched yet. The message is one sentence that says what works. */
export class UnloadableLibrary extends StartRefused {}
