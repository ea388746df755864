/** Who a device is: the identity object (CIP Volume 1, 5-2). */
import { type DeviceIdentity, NO_IDENTITY } from '../device-answers.js';
import { type Device, refusal } from './device.js';
import { CLASS, objectPath, SERVICE } from './request.js';

/** Those of the list of ODVA that plants have most; others are told by number. */
const VENDORS: Readonly<Record<number, string>> = { 1: 'Rockwell Automation', 47: 'OMRON' };
const FIXED_BYTES = 15;
const ROUTE_FAILED = new Set([0x01, 0x02, 0x07, 0x1a, 0x1b, 0x22]);

const IDENTITY_PATH = objectPath(CLASS.identity, 1);

export function parseIdentity(data: Buffer): DeviceIdentity {
  const nameBytes = data.length < FIXED_BYTES ? -1 : data.readUInt8(14);
  if (nameBytes < 0 || FIXED_BYTES + nameBytes > data.length) return NO_IDENTITY;
  const vendor = data.readUInt16LE(0);
  return {
    vendor: VENDORS[vendor] ?? `vendor ${vendor}`,
    product: data.toString('latin1', FIXED_BYTES, FIXED_BYTES + nameBytes),
    revision: `${data.readUInt8(6)}.${String(data.readUInt8(7)).padStart(3, '0')}`,
    serial: data.readUInt32LE(10).toString(16).padStart(8, '0').toUpperCase(),
  };
}

/** Asks the controller at the end of the route who it is, which proves the route. @throws Error with a sentence when there is no way to it. */
export async function identify(device: Device): Promise<DeviceIdentity> {
  const answer = await device.ask(SERVICE.getAttributesAll, IDENTITY_PATH, Buffer.alloc(0));
  if (!answer.ok) throw new Error(answer.message);
  const { reply } = answer;
  if (reply.service === SERVICE.unconnectedSend || ROUTE_FAILED.has(reply.status)) {
    throw new Error(`there is no way to ${device.settings.routeText}: ${refusal(reply).message}`);
  }
  return reply.status === 0 ? parseIdentity(reply.data) : NO_IDENTITY;
}

const ITEM_AT = 6;
const LIST_IDENTITY_ITEM = 0x0c;
/** Version of the protocol and socket address, before what the identity object tells. */
const ADDRESS_BYTES = 18;

/** The first item of an answer to List Identity (CIP Volume 2, 2-4.2.3). */
export function parseListIdentity(data: Buffer): DeviceIdentity {
  if (data.length < ITEM_AT + ADDRESS_BYTES || data.readUInt16LE(0) < 1 || data.readUInt16LE(2) !== LIST_IDENTITY_ITEM) return NO_IDENTITY;
  const end = ITEM_AT + data.readUInt16LE(4);
  return end <= data.length ? parseIdentity(data.subarray(ITEM_AT + ADDRESS_BYTES, end)) : NO_IDENTITY;
}

/**
 * Who answers at the address, where the controller at the end of the route does not say who it is: itself where there is no route, and otherwise the
 * module in front of it, which is said so.
 */
export async function identifyAtAddress({ session, settings: { route, routeText } }: Device): Promise<DeviceIdentity> {
  const answer = await session.listIdentity();
  const found = answer.ok ? parseListIdentity(answer.data) : NO_IDENTITY;
  return found.vendor === '' || route.length === 0 ? found : { ...found, product: `${found.product} in front of ${routeText}` };
}
