/** CIP and encapsulation status as words (CIP Volume 1, Appendix B; Volume 2, 2-3.5; Rockwell 1756-PM020 for tag services). No Node API. */

const GENERAL: Readonly<Record<number, string>> = {
  0x01: 'the connection failed',
  0x02: 'the device has no resources left',
  0x03: 'a parameter is not valid',
  0x04: 'there is no such tag or member',
  0x05: 'the path leads nowhere',
  0x06: 'only a part was transferred',
  0x07: 'the connection is lost',
  0x08: 'the device does not know the service',
  0x09: 'an attribute is not valid',
  0x0a: 'an attribute of the list is refused',
  0x0b: 'it is in this state already',
  0x0c: 'the device is in a state in which it does not do this',
  0x0d: 'the object exists already',
  0x0e: 'it cannot be written',
  0x0f: 'permission denied',
  0x10: 'the state of the device forbids it',
  0x11: 'the answer is too large',
  0x13: 'too little data',
  0x14: 'the attribute is not supported',
  0x15: 'too much data',
  0x16: 'the object does not exist',
  0x1a: 'the request is too large for the route',
  0x1b: 'the answer is too large for the route',
  0x1c: 'the list of attributes is too short',
  0x1e: 'a service inside of the message failed',
  0x1f: 'the device reports an error of its own',
  0x20: 'a parameter is not valid',
  0x22: 'the device got no valid answer from the one behind it',
  0x25: 'a key of the path does not fit',
  0x26: 'the size of the path is not valid',
  0x27: 'an attribute of the list is not known',
  0x28: 'a member of the list is not valid',
  0x29: 'a member cannot be written',
  0xff: 'the device refuses it',
};

/** By general status and first word of the extended one, as `general << 16 | extended`. */
const EXTENDED: Readonly<Record<number, string>> = {
  0x010100: 'the connection is in use already',
  0x010103: 'the transport class is not supported',
  0x010106: 'another owner has it',
  0x010107: 'the connection does not exist',
  0x010108: 'the connection type is not valid',
  0x010109: 'the connection size is not valid',
  0x010111: 'the packet interval is not supported',
  0x010113: 'the device has no connection left',
  0x010114: 'vendor or product code do not fit',
  0x010203: 'the connection timed out',
  0x010204: 'nobody answers at the end of the route',
  0x010205: 'a parameter of the route is not valid',
  0x010301: 'the device has no memory for a connection',
  0x010311: 'the route has a port that is not there',
  0x010312: 'the route leads to an address that is not there',
  0x010315: 'the route has a segment that is not valid',
  0x010318: 'the route leads back to itself',
  0xff2104: 'the offset is behind the end of the tag',
  0xff2105: 'the element is behind the end of the tag',
  0xff2107: 'the tag has another type',
};

const hex = (value: number, digits: number): string => `0x${value.toString(16).padStart(digits, '0')}`;

/** For the operator: what it means, and the numbers a manual lists. */
export function cipStatusText(status: number, extended: number | undefined): string {
  const known = (extended === undefined ? undefined : EXTENDED[status * 0x10000 + extended]) ?? GENERAL[status] ?? 'the device refuses it';
  return `${known} (CIP status ${hex(status, 2)}${extended === undefined ? '' : `, ${hex(extended, 4)}`})`;
}

const ENCAPSULATION: Readonly<Record<number, string>> = {
  0x01: 'the command is not known',
  0x02: 'the device has no memory left',
  0x03: 'the data of the message is not valid',
  0x64: 'the session is not valid',
  0x65: 'the length of the message is not valid',
  0x69: 'the protocol version is not supported',
};

export function encapsulationStatusText(status: number): string {
  return `the device refused the message: ${ENCAPSULATION[status] ?? 'for a reason of its own'} (encapsulation status ${hex(status, 4)})`;
}
