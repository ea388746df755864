/**
 * Thread entry of the explorer: asks OPC UA servers what an engineer wants to know of them. A thread of its own, so that a server that is
 * looked through costs neither the gateway nor the modules that are served; started for the first question, and ended when none came for a while.
 */
import { parentPort } from 'node:worker_threads';
import { explore } from './io/opcua/explore.js';
import type { ExplorerRequest } from './port.js';
import { systemClock } from './vocabulary/clock.js';

// of sockets below the library; whoever waits for an answer has a time-out
process.on('uncaughtException', () => undefined);

parentPort?.on('message', (request: ExplorerRequest) => {
  const unanswered = (fault: unknown) => ({
    id: request.id,
    ok: false,
    reason: 'unreachable',
    opcStatus: 'BadInternalError',
    message: fault instanceof Error ? fault.message : String(fault),
  });
  explore(request, systemClock)
    .catch(unanswered)
    .then((reply) => parentPort?.postMessage(reply))
    .catch(() => undefined);
});
