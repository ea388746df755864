/** Which form an answer takes (decisions Q-MES-28, Q-MES-29): `format` wins over `Accept`; JSON unless XML was asked for. */
import { invalid, Refusal } from '../base/refusal.js';

export type Format = 'json' | 'b2mml' | 'xml' | 'b2mml-mesa';

interface Range {
  readonly type: string;
  readonly quality: number;
  readonly mesa: boolean;
}

/** @throws Refusal 400 for an unknown `format`, 406 for a form the route does not offer. */
export function chooseFormat(format: string | undefined, accept: string | undefined, offered: readonly Format[]): Format {
  if (format !== undefined) {
    if (format !== 'json' && format !== 'b2mml' && format !== 'xml' && format !== 'b2mml-mesa') {
      throw invalid('invalid_query', 'format', 'format must be json, b2mml, xml or b2mml-mesa', { allowed: ['json', 'b2mml', 'xml', 'b2mml-mesa'] });
    }
    return offer(format, offered);
  }
  if (accept === undefined || !accept.includes('xml')) return 'json';
  const ranges = accept.split(',').map(parseRange);
  const xml = ranges.find((range) => (range.type === 'application/xml' || range.type === 'text/xml') && range.quality > 0);
  if (!xml) return 'json';
  const json = ranges.find((range) => range.type === 'application/json');
  if (json) {
    if (json.quality > xml.quality) return 'json';
    if (json.quality === xml.quality && ranges.indexOf(json) < ranges.indexOf(xml)) return 'json';
  }
  return offer(xml.mesa ? 'b2mml-mesa' : 'b2mml', offered);
}

function offer(format: Format, offered: readonly Format[]): Format {
  if (format === 'json' || offered.includes(format)) return format;
  throw new Refusal('not-acceptable', `this route does not offer the form ${format}`, { code: 'not_acceptable', field: 'format' });
}

function parseRange(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith('q='));
  const quality = weight === undefined ? 1 : Number(weight.slice(2));
  return { type, quality: Number.isFinite(quality) ? quality : 0, mesa: parameters.includes('profile=mesa') || parameters.includes('profile="mesa"') };
}

export const XML_MEDIA_TYPE: Readonly<Record<Exclude<Format, 'json'>, string>> = {
  b2mml: 'application/xml; charset=utf-8',
  xml: 'application/xml; charset=utf-8',
  'b2mml-mesa': 'application/xml; charset=utf-8; profile=mesa',
};
