/**
 * What a device says of itself by function 43, type 14 (Application Protocol V1.1b3, 6.21), or where that says nothing by function 17 (6.13), which is older.
 * Many know neither; that is no fault.
 */
import { type DeviceIdentity, NO_IDENTITY } from '../device-answers.js';
import { EXCEPTION_FLAG, FUNCTION, type Reply } from './transport.js';

const MEI_TYPE = 14;
/** Objects of the regular category: vendor, product code, revision, then names. */
const REGULAR = 2;
const OBJECT = { vendor: 0, productCode: 1, revision: 2, productName: 4, model: 5 } as const;
/** An answer holds a few objects; a device that never ends is not believed. */
const ANSWERS_MAX = 8;
const TEXT_MAX = 100;

function request(object: number): Buffer {
  return Buffer.from([FUNCTION.readDeviceIdentification, MEI_TYPE, REGULAR, object]);
}

interface Part {
  readonly objects: ReadonlyMap<number, string>;
  /** The object with which the next answer begins; undefined: this was the last. */
  readonly next: number | undefined;
}

/** Undefined where the answer is none of this function, or is cut off. */
export function readPart(pdu: Buffer): Part | undefined {
  const [code = 0, type, , , more, next, count = 0] = pdu;
  if (code & EXCEPTION_FLAG || code !== FUNCTION.readDeviceIdentification || type !== MEI_TYPE) return undefined;
  const objects = new Map<number, string>();
  let at = 7;
  for (let object = 0; object < count; object += 1) {
    const [id, length] = [pdu[at], pdu[at + 1]];
    if (id === undefined || length === undefined || at + 2 + length > pdu.length) return undefined;
    objects.set(id, pdu.toString('latin1', at + 2, at + 2 + Math.min(length, TEXT_MAX)).replace(/[^ -~\u00a0-\u00ff]/g, ''));
    at += 2 + length;
  }
  return { objects, next: more === 0xff ? next : undefined };
}

/** The words in what function 17 says: its layout is that of the device, with numbers and a mark whether it runs among them. */
function serverId(pdu: Buffer): string {
  const [code, count = 0] = pdu;
  if (code !== FUNCTION.reportServerId) return '';
  const words = pdu.toString('latin1', 2, 2 + count).match(/[ -~]{3,}/g) ?? [];
  return words
    .map((word) => word.trim())
    .join(' ')
    .trim()
    .slice(0, TEXT_MAX);
}

/** @param ask one request, not repeated: a device that does not know the function may say nothing to it. */
export async function identify(ask: (pdu: Buffer) => Promise<Reply>): Promise<DeviceIdentity> {
  const said = new Map<number, string>();
  let object: number | undefined = 0;
  let isAnswered = true;
  for (let answers = 0; object !== undefined && answers < ANSWERS_MAX; answers += 1) {
    const reply: Reply = await ask(request(object));
    isAnswered = reply.ok;
    const part: Part | undefined = reply.ok ? readPart(reply.pdu) : undefined;
    for (const [id, text] of part?.objects ?? []) said.set(id, text.trim());
    object = part?.next;
  }
  // one that is silent to the one may be silent to the other: another time-out for a name is too much
  if (said.size === 0 && isAnswered) {
    const reply = await ask(Buffer.from([FUNCTION.reportServerId]));
    return { ...NO_IDENTITY, product: reply.ok ? serverId(reply.pdu) : '' };
  }
  const product = said.get(OBJECT.productName) || said.get(OBJECT.model) || said.get(OBJECT.productCode) || '';
  return { ...NO_IDENTITY, vendor: said.get(OBJECT.vendor) ?? '', product, revision: said.get(OBJECT.revision) ?? '' };
}
