/** From an address to a session with a controller: socket, session, connection where it is asked for, and the proof of the route; all within one time-out. */
import { randomBytes } from 'node:crypto';
import net from 'node:net';
import type { Clock } from '../../vocabulary/clock.js';
import type { DeviceIdentity } from '../device-answers.js';
import { Device, type DeviceSettings, refusal } from './device.js';
import type { EthernetIpEndpoint } from './endpoint.js';
import type { CipReply } from './reply.js';
import { identify } from './identity.js';
import { type ConnectionIdentity, forwardCloseRequest, forwardOpenRequest, openedConnection, SERVICE } from './request.js';
import { EnipSession } from './session.js';

export interface ConnectTarget extends EthernetIpEndpoint {
  readonly settings: DeviceSettings;
  /** Messages go over a connection of so many bytes at most; undefined: each by itself. */
  readonly connectionBytes: number | undefined;
}

/** The sequence before each message of a connection. */
const SEQUENCE_BYTES = 2;
/** What a Forward Open that is not large may ask for, and devices grant (1756-PM020); the least that `maxPacket` takes. */
const CONNECTION_BYTES = 504;
const CONNECTION_BYTES_MIN = 100;
const NO_SUCH_SERVICE = 0x08;
const CONNECTION_FAILURE = 0x01;
/** "Invalid connection size", which says in its next word what the device can do (CIP Volume 1, 3-5.5); size of either direction. */
const SIZE_TOLD = 0x0109;
const SIZE_REFUSED: ReadonlySet<number> = new Set([SIZE_TOLD, 0x0126, 0x0127, 0x0128]);

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

/** The reply says that a connection of this size is what is wrong: too long, or opened in a way that the device does not know. */
const isOfSize = ({ status, extended }: CipReply): boolean => status === NO_SUCH_SERVICE || (status === CONNECTION_FAILURE && extended !== undefined && SIZE_REFUSED.has(extended));

/** The size to try after one that was refused: what the device says it can do, or what each device can; undefined: there is none. */
function lessThan(bytes: number, reply: CipReply): number | undefined {
  const told = reply.extended === SIZE_TOLD && reply.detail !== undefined && reply.detail >= CONNECTION_BYTES_MIN ? reply.detail : CONNECTION_BYTES;
  if (isOfSize(reply) && told < bytes) return told;
  return isOfSize(reply) && CONNECTION_BYTES < bytes ? CONNECTION_BYTES : undefined;
}

/** Opens a connection of so many bytes, or of as many as the device has where that are fewer. @returns its bytes. @throws Error with what the device says when it refuses. */
async function openConnection({ session, settings }: Device, wantedBytes: number): Promise<number> {
  for (let bytes = wantedBytes; ; ) {
    const identity: ConnectionIdentity = { serial: randomUint32() & 0xffff, originatorSerial: randomUint32(), targetToOriginator: randomUint32() };
    const message = forwardOpenRequest(settings.route, identity, bytes);
    const answer = await session.request(session.prepare(message, message.readUInt8(0), false), true);
    if (!answer.ok) throw new Error(answer.message);
    if (answer.reply.status === 0) {
      const originatorToTarget = openedConnection(answer.reply.data, identity);
      if (originatorToTarget === undefined) throw new Error('the device opened another connection than the one that was asked for');
      const closing = session.prepare(forwardCloseRequest(settings.route, identity), SERVICE.forwardClose, false);
      session.useConnection({ originatorToTarget, targetToOriginator: identity.targetToOriginator }, closing);
      return bytes;
    }
    const less = lessThan(bytes, answer.reply);
    if (less === undefined)
      throw new Error(`the device refuses a connection of ${bytes} bytes to ${settings.routeText}: ${refusal(answer.reply).message}; connected: false does without one`);
    bytes = less;
  }
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
    let device = new Device(session, target.settings);
    await session.register();
    if (target.connectionBytes !== undefined) {
      const messageBytes = (await openConnection(device, target.connectionBytes)) - SEQUENCE_BYTES;
      device = new Device(session, { ...target.settings, requestBytesMax: messageBytes, replyBytesMax: messageBytes });
    }
    return { device, identity: await identify(device) };
  } catch (error) {
    session.close();
    throw isLate ? new Error(`${target.host}:${target.port} does not answer within ${timeoutMs} ms`) : error;
  } finally {
    cancel();
  }
}
