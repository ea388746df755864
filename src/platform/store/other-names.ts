/** Members that may be sent by another name as well (D-C-05): what is stored and served goes by one. */
import { isDeepStrictEqual } from 'node:util';
import { invalid } from '../base/refusal.js';

/** Other name, and the member it stands for. */
export type OtherNames = Readonly<Record<string, string>>;

/**
 * By their own names alone. Whoever sends both sends back what he was given by both.
 * @param prefix of the members in the body, for the refusal
 * @throws Refusal 400 `invalid_field` where both are sent and differ.
 */
export function byOwnNames<Given extends object>(given: Given, names: OtherNames = {}, prefix = ''): Given {
  const own = { ...given } as Record<string, unknown>;
  for (const [other, member] of Object.entries(names)) {
    const value = own[other];
    delete own[other];
    if (value === undefined) continue;
    const twice = own[member];
    if (twice !== undefined && !isDeepStrictEqual(twice, value))
      throw invalid('invalid_field', `${prefix}${other}`, `${prefix}${other} is another name of ${prefix}${member}, which is sent too and is not the same; send one of them`);
    own[member] = value;
  }
  return own as Given;
}
