/** The code of a second factor, asked for where the box wants one: a password that is enough is never followed by a question. */
import { ApiError } from '../../client/api.js';
import type { Terminal } from './terminal.js';

export const SECOND_FACTOR = ['--second-factor <code>', 'code of your second factor; asked for at a terminal'] as const;

/** @param given on the command line. */
export async function withCode<T>(terminal: Pick<Terminal, 'askSecret'>, given: string | undefined, send: (proof: { readonly code?: string }) => Promise<T>): Promise<T> {
  try {
    return await send(given === undefined ? {} : { code: given });
  } catch (fault) {
    if (!(fault instanceof ApiError) || fault.code !== 'second_factor_required') throw fault;
    return send({ code: await terminal.askSecret(questionOf(fault), 'give it with --second-factor') });
  }
}

/** A box of an earlier release tells nothing of passkeys, and has none. */
function questionOf({ body: { secondFactors } }: ApiError): string {
  const ways: readonly unknown[] = Array.isArray(secondFactors) ? secondFactors : ['app'];
  if (ways.includes('app')) return 'code of your authenticator app, or a recovery code: ';
  return ways.includes('passkey') ? 'this account has passkeys, which only a browser can use; a recovery code: ' : 'a recovery code: ';
}
