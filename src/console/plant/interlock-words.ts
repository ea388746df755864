/** What decides an interlock as people say it: which value of which device, where it stands now, and which limit it is kept to. */
import type { Reason } from '../data/interlock.js';
import { modules, tagList, tagValue } from '../data/plant.js';
import { limitOf } from '../data/switch-limits.js';
import { words } from '../common/strings.js';
import { switchText, tagText } from '../common/tag-text.js';

const said = words({
  en: {
    now: 'now',
    mustBe: (limit: string) => `must be ${limit}`,
    blocks: (limit: string) => `blocks while ${limit}`,
    signs: { '≥': 'at least', '>': 'above', '≤': 'at most', '<': 'below', '=': 'equal to', '≠': 'other than' } as Readonly<Record<string, string>>,
    mustBeTrue: (state: string) => `must be "${state}"`,
    blocksTrue: (state: string) => `blocks while "${state}"`,
  },
  de: {
    now: 'jetzt',
    mustBe: (limit: string) => `muss ${limit} sein`,
    blocks: (limit: string) => `sperrt, solange ${limit}`,
    signs: { '≥': 'mindestens', '>': 'über', '≤': 'höchstens', '<': 'unter', '=': 'gleich', '≠': 'ungleich' } as Readonly<Record<string, string>>,
    mustBeTrue: (state: string) => `muss „${state}“ sein`,
    blocksTrue: (state: string) => `sperrt, solange „${state}“`,
  },
});

/** @returns empty where the tag is none that the site describes. Reads signals. */
export function reasonText({ tag: address, sign, limit, permits }: Reason): string {
  const tag = tagList.value.find((each) => each.address === address);
  const module = modules.value.get(tag?.controlModule ?? '');
  if (!tag || !module) return '';
  const name = `${module.description} ${module.name.toUpperCase()}`.trim();
  const held = tagValue(tag.unit, tag.address).value;
  if (sign !== '') {
    const bound = `${said.signs[sign] ?? sign} ${limit}`;
    return `${name}: ${known(tagText(tag, held), held.quality)}${permits ? said.mustBe(bound) : said.blocks(bound)}`;
  }
  const found = limitOf(module, tag.name);
  const measured = found && tagList.value.find((each) => each.controlModule === module.name && each.name === 'pv');
  if (found && measured) {
    const value = tagValue(measured.unit, measured.address).value;
    const bound =
      `${said.signs[found.isHigh ? '>' : '<'] ?? ''} ${found.text === '' ? '' : tagText(measured, { value: Number(found.text), quality: 'Good' })} (${found.word})`.replace(
        / +/g,
        ' ',
      );
    return `${name}: ${known(tagText(measured, value), value.quality)}${said.blocks(bound)}`;
  }
  const state = switchText(tag, true);
  return `${name}: ${known(tagText(tag, held), held.quality)}${permits ? said.mustBeTrue(state) : said.blocksTrue(state)}`;
}

/** A value of another unit may not have come. */
function known(text: string, quality: string): string {
  return quality === '' ? '' : `${said.now} ${text}, `;
}
