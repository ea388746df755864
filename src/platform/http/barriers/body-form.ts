/** Step 11, first half: the size and the media type that a write announces (decisions Q-ERR-06), before its body is read. */
import { Refusal } from '../../base/refusal.js';
import type { Exchange, HeaderFields } from '../exchange.js';
import { YAML_BYTES_MAX, YAML_MEDIA_TYPES } from '../yaml-body.js';
import type { Barrier, Guard } from './barrier.js';

const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

export const bodyForm: Barrier = (exchange, guard) => {
  if (!exchange.row.mutating) return undefined;
  const { headers } = exchange.incoming;
  const announced = headers.get('content-length');
  if (announced !== undefined && Number(announced) > limitOf(exchange, guard)) throw tooLarge(exchange, guard);
  exchange.hasBody = announcesBody(headers);
  if (exchange.hasBody && !isYaml(exchange)) checkMediaType(headers.get('content-type'), exchange.row.bound.row.bodyMedia);
  return undefined;
};

export function announcesBody(headers: HeaderFields): boolean {
  const announced = headers.get('content-length');
  return headers.get('transfer-encoding') !== undefined || (announced !== undefined && Number(announced) !== 0);
}

/** What is read a hundred times as slowly may be shorter than JSON. */
export function limitOf(exchange: Exchange, guard: Guard): number {
  return isYaml(exchange) ? YAML_BYTES_MAX : (exchange.row.bound.row.bodyBytesMax ?? guard.bodyBytesMax);
}

export function tooLarge(exchange: Exchange, guard: Guard): Refusal {
  const limitBytes = limitOf(exchange, guard);
  const hint = isYaml(exchange) ? `a body in YAML has at most ${limitBytes} bytes; JSON may be longer` : `the body is larger than ${limitBytes} bytes`;
  return new Refusal('too-large', hint, { code: 'payload_too_large', limitBytes });
}

/** Of a route that takes it. */
export function isYaml({ row, incoming }: Exchange): boolean {
  const type = incoming.headers.get('content-type');
  if (row.bound.row.yaml !== true) return false;
  const [bare = '', ...parameters] = (type ?? '').split(';').map((part) => part.trim().toLowerCase());
  return YAML_MEDIA_TYPES.some((known) => known === bare) && parameters.every((parameter) => /^charset="?utf-8"?$/.test(parameter));
}

function checkMediaType(type: string | undefined, allowed: readonly string[] | undefined): void {
  if (allowed) {
    const bare = type?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
    if (allowed.includes(bare)) return;
    throw new Refusal('unsupported-media', `the body must be ${allowed.join(' or ')}`, { code: 'unsupported_media_type' });
  }
  if (type !== undefined && JSON_TYPE.test(type)) return;
  throw new Refusal('unsupported-media', 'the body must be application/json in UTF-8', { code: 'unsupported_media_type' });
}
