/** From an address to a session with a controller: socket, session, connection where it is asked for, and the proof of the route; all within one time-out. */
import { randomBytes } from 'node:crypto';
import net from 'node:net';
import type { Clock } from '../../vocabulary/clock.js';
import type { DeviceIdentity } from '../device-answers.js';
import { Device, type DeviceSettings, refusal } from './device.js';
import type { EthernetIpEndpoint } from './endpoint.js';
import { identify } from './identity.js';
import { type ConnectionIdentity, forwardCloseRequest, forwardOpenRequest, openedConnection, SERVICE } from './request.js';
import { EnipSession } from './session.js';

export interface ConnectTarget extends EthernetIpEndpoint {
  readonly settings: DeviceSettings;
  /** Messages go over a connection of so many bytes; undefined: each by itself. */
  readonly connectionBytes: number | undefined;
}

const randomUint32 = (): number => randomBytes(4).readUInt32LE(0);

/** @throws Error when the device does not accept a connection within its time-out; no socket is left behind. */
function connectSocket({ host, port, settings: { timeoutMs } }: ConnectTarget, clock: Clock): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 10_000 });
    const fail = (error: Error): void => {
      cancel();
      socket.on('error', () => {}); // a second error of a socket that was given up says nothing new
      socket.destroy();
      reject(error);
    };
    const cancel = clock.after(timeoutMs, () => fail(new Error(`${host}:${port} does not answer within ${timeoutMs} ms`)));
    socket.once('error', fail);
    socket.once('connect', () => {
      cancel();
      resolve(socket); // who takes it over listens to its errors before this one lets go
    });
    socket.once('close', cancel);
  });
}

/** @throws Error with what the device says when it refuses. */
async function openConnection(device: Device, bytes: number): Promise<void> {
  const { session, settings } = device;
  const identity: ConnectionIdentity = { serial: randomUint32() & 0xffff, originatorSerial: randomUint32(), targetToOriginator: randomUint32() };
  const message = forwardOpenRequest(settings.route, identity, bytes);
  const answer = await session.request(session.prepare(message, message.readUInt8(0), false), true);
  if (!answer.ok) throw new Error(answer.message);
  if (answer.reply.status !== 0)
    throw new Error(`the device refuses a connection of ${bytes} bytes to ${settings.routeText}: ${refusal(answer.reply).message}; connected: false does without one`);
  const originatorToTarget = openedConnection(answer.reply.data, identity);
  if (originatorToTarget === undefined) throw new Error('the device opened another connection than the one that was asked for');
  const closing = session.prepare(forwardCloseRequest(settings.route, identity), SERVICE.forwardClose, false);
  session.useConnection({ originatorToTarget, targetToOriginator: identity.targetToOriginator }, closing);
}

/** @throws Error with a sentence for the operator; nothing is left behind. */
export async function connectDevice(target: ConnectTarget, clock: Clock): Promise<{ readonly device: Device; readonly identity: DeviceIdentity }> {
  const { timeoutMs } = target.settings;
  const startedMonoMs = clock.monoMs();
  const socket = await connectSocket(target, clock);
  const session = new EnipSession(socket, timeoutMs, clock, randomUint32());
  let isLate = false;
  const cancel = clock.after(Math.max(timeoutMs - (clock.monoMs() - startedMonoMs), 1), () => {
    isLate = true;
    session.close();
  });
  try {
    const device = new Device(session, target.settings);
    await session.register();
    if (target.connectionBytes !== undefined) await openConnection(device, target.connectionBytes);
    return { device, identity: await identify(device) };
  } catch (error) {
    session.close();
    throw isLate ? new Error(`${target.host}:${target.port} does not answer within ${timeoutMs} ms`) : error;
  } finally {
    cancel();
  }
}
