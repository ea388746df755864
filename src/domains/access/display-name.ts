/** How people and panels are called where they are shown. */
import * as v from 'valibot';

export const DisplayName = v.pipe(v.string(), v.trim(), v.minLength(1, 'must not be empty'), v.maxLength(128, 'must have at most 128 characters'));
