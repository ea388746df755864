/** How the thread that asks servers is asked, and what its answers are for the caller. */
import type { ExplorerAsk } from '../../../runtime/port.js';
import { invalid, Refusal } from '../../platform/base/refusal.js';
import type { Caller } from '../../platform/http/caller.js';
import type { Explorer } from './explorer.js';
import type { Target } from './target.js';

/** @throws Refusal `device_unreachable`, 400 where the question is wrong. */
export async function asked<T>(
  target: Pick<Target, 'endpointUrl' | 'security' | 'credentials' | 'timeoutMs'>,
  ask: ExplorerAsk,
  caller: Caller,
  explorer: Explorer,
  field: string,
): Promise<T> {
  const { endpointUrl, security, credentials, timeoutMs } = target;
  const reply = await explorer.ask(caller.accountId, { endpointUrl, security, credentials, timeoutMs, ask });
  if (reply.ok) return reply.answer as T; // of a thread of the same build
  if (reply.reason === 'invalid') throw invalid('invalid_field', field, reply.message);
  throw new Refusal('unavailable', `the server ${endpointUrl} cannot be asked: ${reply.message}`, { code: 'device_unreachable', opcStatus: reply.opcStatus });
}
