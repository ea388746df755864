/** Step 11, first half: the size and the media type that a write announces (decisions Q-ERR-06), before its body is read. */
import { Refusal } from '../../base/refusal.js';
import type { HeaderFields } from '../exchange.js';
import { YAML_MEDIA_TYPES } from '../yaml-body.js';
import type { Barrier } from './barrier.js';

const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

export const bodyForm: Barrier = (exchange, guard) => {
  if (!exchange.row.mutating) return undefined;
  const { headers } = exchange.incoming;
  const { bodyBytesMax, bodyMedia, yaml } = exchange.row.bound.row;
  const limitBytes = bodyBytesMax ?? guard.bodyBytesMax;
  const announced = headers.get('content-length');
  if (announced !== undefined && Number(announced) > limitBytes) throw tooLarge(limitBytes);
  exchange.hasBody = announcesBody(headers);
  const type = headers.get('content-type');
  exchange.bodyIsYaml = yaml === true && isYaml(type);
  if (exchange.hasBody && !exchange.bodyIsYaml) checkMediaType(type, bodyMedia);
  return undefined;
};

export function announcesBody(headers: HeaderFields): boolean {
  const announced = headers.get('content-length');
  return headers.get('transfer-encoding') !== undefined || (announced !== undefined && Number(announced) !== 0);
}

export function tooLarge(limitBytes: number): Refusal {
  return new Refusal('too-large', `the body is larger than ${limitBytes} bytes`, { code: 'payload_too_large', limitBytes });
}

function isYaml(type: string | undefined): boolean {
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
