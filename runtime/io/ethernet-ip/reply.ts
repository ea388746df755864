/**
 * What a device answered, read strictly: every length is checked against what has arrived, and what does not add up is no answer. Nothing is
 * copied; a part lies in the frame that it came in.
 */

export interface CipReply {
  /** Of the request, without the mark of a reply. */
  readonly service: number;
  readonly status: number;
  /** First word of the extended status. */
  readonly extended: number | undefined;
  /** Second word: what the first is said of. */
  readonly detail: number | undefined;
  readonly data: Buffer;
}

const REPLY_FLAG = 0x80;
const HEAD_BYTES = 4;
const EXTENDED_WORDS_MAX = 16;

/** One message router reply that fills `bytes`; undefined when it is none. */
export function parseReply(bytes: Buffer): CipReply | undefined {
  if (bytes.length < HEAD_BYTES) return undefined;
  const service = bytes.readUInt8(0);
  const words = bytes.readUInt8(3);
  if (!(service & REPLY_FLAG) || bytes[1] !== 0 || words > EXTENDED_WORDS_MAX || HEAD_BYTES + 2 * words > bytes.length) return undefined;
  return {
    service: service & ~REPLY_FLAG,
    status: bytes.readUInt8(2),
    extended: words > 0 ? bytes.readUInt16LE(HEAD_BYTES) : undefined,
    detail: words > 1 ? bytes.readUInt16LE(HEAD_BYTES + 2) : undefined,
    data: bytes.subarray(HEAD_BYTES + 2 * words),
  };
}

/** Number of services and their offsets, before the replies themselves. */
const COUNT_BYTES = 2;
const OFFSET_BYTES = 2;

/** Where the reply at a place begins, in the data of a reply to a message of several services. */
export const replyStart = (data: Buffer, place: number): number => data.readUInt16LE(COUNT_BYTES + OFFSET_BYTES * place);

export const replyEnd = (data: Buffer, place: number, count: number): number => (place + 1 < count ? replyStart(data, place + 1) : data.length);

/** Whether `data` is `count` replies to `service` that follow each other and fill it. They are looked at where they lie. */
export function holdsReplies(data: Buffer, count: number, service: number): boolean {
  const headBytes = COUNT_BYTES + OFFSET_BYTES * count;
  if (data.length < headBytes || data.readUInt16LE(0) !== count || replyStart(data, 0) !== headBytes) return false;
  for (let place = 0, from = headBytes; place < count; place += 1) {
    const to = replyEnd(data, place, count);
    if (to < from + HEAD_BYTES || to > data.length) return false;
    if (data[from] !== (service | REPLY_FLAG) || data[from + 1] !== 0 || dataStart(data, from) > to) return false;
    from = to;
  }
  return true;
}

/** Where the data of the reply that begins at `from` begins, behind its status. */
export function dataStart(bytes: Buffer, from: number): number {
  const words = bytes.readUInt8(from + 3);
  return words > EXTENDED_WORDS_MAX ? Number.POSITIVE_INFINITY : from + HEAD_BYTES + 2 * words;
}

/** An item of the common packet format: what a message consists of behind its encapsulation header. */
export interface PacketItems {
  /** Of a null address no bytes, of a connected one four. */
  readonly address: Buffer;
  readonly addressType: number;
  readonly data: Buffer;
  readonly dataType: number;
}

const INTERFACE_BYTES = 6; // handle and time-out before the items
const ITEM_HEAD_BYTES = 4;

/** Address and data item; undefined unless there are the two and they fill `bytes`. */
export function parseItems(bytes: Buffer): PacketItems | undefined {
  const addressAt = INTERFACE_BYTES + 2;
  if (bytes.length < addressAt + 2 * ITEM_HEAD_BYTES || bytes.readUInt32LE(0) !== 0 || bytes.readUInt16LE(INTERFACE_BYTES) !== 2) return undefined;
  const addressBytes = bytes.readUInt16LE(addressAt + 2);
  const dataAt = addressAt + ITEM_HEAD_BYTES + addressBytes;
  if (dataAt + ITEM_HEAD_BYTES > bytes.length) return undefined;
  const dataBytes = bytes.readUInt16LE(dataAt + 2);
  if (dataAt + ITEM_HEAD_BYTES + dataBytes !== bytes.length) return undefined;
  return {
    address: bytes.subarray(addressAt + ITEM_HEAD_BYTES, dataAt),
    addressType: bytes.readUInt16LE(addressAt),
    data: bytes.subarray(dataAt + ITEM_HEAD_BYTES),
    dataType: bytes.readUInt16LE(dataAt),
  };
}
