/**
 * The socket on which a service manager is told how the service fares (sd_notify(3) of systemd). Node has no datagram sockets of the unix
 * family: whoever starts the program opens one, connects it and becomes this process, and the number of the open socket is in NOTIFY_FD
 * (systemd/lineside.service, ADR 0045). A write to it is one datagram, from the main process itself.
 *
 * Nothing here waits: what the manager has no room for now is not sent, and said.
 */
import { fstatSync, writeSync } from 'node:fs';

export interface NotifySocket {
  /** @returns whether the manager has it. */
  send(fields: readonly string[]): boolean;
}

/** Nobody has asked to be told. */
export const NO_SOCKET: NotifySocket = { send: () => true };

/** Of one field, in characters; systemd cuts nothing, but a status is one line of a terminal. */
const FIELD_MAX = 400;

/**
 * Takes both names out of the environment, which programs of ours are given, too.
 * `tell`: what is wrong with the socket, once.
 */
export function openNotifySocket(environment: NodeJS.ProcessEnv, tell: (problem: string) => void): NotifySocket {
  const { NOTIFY_SOCKET: address = '', NOTIFY_FD: given = '' } = environment;
  delete environment.NOTIFY_SOCKET;
  delete environment.NOTIFY_FD;
  if (given === '') {
    if (address !== '')
      tell(`the service manager wants to be told on ${address}, and the program was not started with that socket open (NOTIFY_FD): start it as systemd/lineside.service does`);
    return NO_SOCKET;
  }
  const fd = Number(given);
  if (!isSocket(fd)) {
    tell(`NOTIFY_FD is '${given}', which is no open socket of this process`);
    return NO_SOCKET;
  }
  let isTold = false;
  return {
    send(fields) {
      try {
        writeSync(fd, fields.map(oneLine).join('\n'));
        return true;
      } catch (fault) {
        if (!isTold && (fault as NodeJS.ErrnoException).code !== 'EAGAIN') {
          isTold = true;
          tell(`the service manager cannot be told: ${(fault as Error).message}`);
        }
        return false;
      }
    },
  };
}

function isSocket(fd: number): boolean {
  try {
    return Number.isInteger(fd) && fd > 2 && fstatSync(fd).isSocket();
  } catch {
    return false;
  }
}

function oneLine(field: string): string {
  return field.replaceAll(/\s+/g, ' ').slice(0, FIELD_MAX);
}
