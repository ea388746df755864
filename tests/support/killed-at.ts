/**
 * Loaded before the product (`node --import`): the process is killed, as by `kill -9`, in the moment before a message leaves the gateway.
 * `KILLED_AT`: a kind of question to the holder of outputs (`hold set 500`, `hold return`), or a text that stands in a row for the ledger.
 */
import { Worker } from 'node:worker_threads';

const killedAt = process.env.KILLED_AT ?? '';
const post = Worker.prototype.postMessage;

interface Message {
  readonly type?: string;
  readonly ask?: { readonly kind: string; readonly value?: unknown };
  readonly fields?: readonly unknown[];
}

/** What was never set has no way back. */
let isSet = false;

function isIt({ type, ask, fields = [] }: Message): boolean {
  if (type === 'hold' && ask) {
    isSet ||= ask.kind === 'set';
    return isSet && killedAt === (ask.kind === 'set' ? `hold set ${String(ask.value)}` : `hold ${ask.kind}`);
  }
  return fields.some((field) => typeof field === 'string' && field.includes(killedAt));
}

Worker.prototype.postMessage = function (this: Worker, message: Message, ...rest) {
  if (isIt(message)) process.kill(process.pid, 'SIGKILL');
  return post.call(this, message, ...rest);
} as typeof post;
