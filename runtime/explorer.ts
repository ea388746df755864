/**
 * Thread entry of the explorer: asks OPC UA servers what an engineer wants to know of them. A thread of its own, so that a server that is
 * looked through costs neither the gateway nor the modules that are served; started for the first question, and ended when none came for a while.
 */
import { parentPort } from 'node:worker_threads';
import { onNotice } from './io/notices.js';
import { explore } from './io/opcua/explore.js';
import type { ExplorerOutbound, ExplorerRequest } from './port.js';
import { systemClock } from './vocabulary/clock.js';

function serve(port: NonNullable<typeof parentPort>): void {
  const post = (message: ExplorerOutbound): void => port.postMessage(message);
  const contain = (seam: string, fault: unknown): void => post({ type: 'fault', seam, fault: fault instanceof Error ? (fault.stack ?? fault.message) : String(fault) });
  // of sockets below the library: whoever waits for an answer has a time-out, and the other questions go on
  process.on('uncaughtException', (fault) => contain('event of the explorer', fault));

  onNotice((notice) => post({ type: 'notice', notice }));

  port.on('message', (request: ExplorerRequest) => {
    const unanswered = (fault: unknown): ExplorerOutbound => {
      contain('question of the explorer', fault);
      return { id: request.id, ok: false, reason: 'unreachable', opcStatus: 'BadInternalError', message: fault instanceof Error ? fault.message : String(fault) };
    };
    explore(request, systemClock)
      .catch(unanswered)
      .then(post)
      .catch((fault: unknown) => contain('answer of the explorer', fault));
  });
}

if (parentPort) serve(parentPort);
