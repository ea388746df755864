/** Words for what the box says by codes: of each code the sentence that is made of its parts, as they are shown. */
import type { PartsOf, ToldCode } from '../../../runtime/vocabulary/told.js';

/** `why` is what exactly, of a code that only says that something failed; else ''. */
export type WordsOf<Code extends ToldCode> = { readonly [Each in Code]: (parts: PartsOf<Each>, why: string) => string };
