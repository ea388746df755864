/** How what the box says by a code is served beside its sentence (runtime/vocabulary/told.ts). */
import * as v from 'valibot';
import { TOLD, type ToldCode } from '../../../runtime/vocabulary/told.js';
import { nameSchemas } from '../../platform/base/schema-names.js';

const CODES = Object.keys(TOLD) as [ToldCode, ...ToldCode[]];
const CODED = { code: v.picklist(CODES), parts: v.record(v.string(), v.string()) };

/** The same as the sentence, as a code with the names and values in it: whoever reads it words it in his language. */
export const ToldSchema = v.strictObject({ ...CODED, because: v.optional(v.strictObject(CODED)) });

nameSchemas({ Told: ToldSchema });
