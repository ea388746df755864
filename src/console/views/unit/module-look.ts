/** What a module looks like now, in the picture and in the list. Reads signals: whoever draws it is drawn again with them. */
import { deviceLook } from '../../data/device-look.js';
import { isBlocked, type ModuleTags } from '../../data/module-tags.js';
import { tagValue, units } from '../../data/plant.js';
import { tagText } from '../../common/tag-text.js';
import type { MarkKind } from '../../parts/mark.js';
import type { Look } from '../../parts/symbols.js';

export interface ModuleLook {
  readonly look: Look;
  readonly marks: readonly MarkKind[];
  readonly quietMarks: readonly MarkKind[];
  /** The main value in words, and the setpoint; empty where it has none. */
  readonly value: string;
  readonly target: string;
  /** Of its button. */
  readonly attributes: Readonly<Record<string, string | undefined>>;
}

export function lookOf(unit: string, { module, main, setpoint, interlocks, faults }: ModuleTags): ModuleLook {
  const held = main ? tagValue(unit, main.address).value : undefined;
  const aim = setpoint ? tagValue(unit, setpoint.address).value : undefined;
  const blocked = interlocks.some((tag) => {
    const { value, quality } = tagValue(unit, tag.address).value;
    return quality === 'Good' && isBlocked(tag, value);
  });
  const isManual = module.mode === 'Manual';
  const inBatch = (units.value.find(({ name }) => name === unit)?.allocatedTo ?? '') !== '';
  const faulted = faults.some((tag) => tagValue(unit, tag.address).value.value === true);
  const mark = (isSo: boolean, kind: MarkKind): readonly MarkKind[] => (isSo ? [kind] : []);
  return {
    look: held ? deviceLook(held, faulted) : faulted ? 'fault' : 'unknown',
    marks: [
      ...mark(held?.quality === 'Bad', 'bad'),
      ...mark(held?.quality === 'Uncertain', 'uncertain'),
      ...mark(blocked, 'interlocked'),
      ...mark(module.interlockBypass.active, 'bypassed'),
      ...mark(module.overrides.length > 0, 'forced'),
      ...mark(isManual && inBatch, 'manual'),
    ],
    quietMarks: mark(isManual && !inBatch, 'manual'),
    value: main && held ? tagText(main, held) : '–',
    target: setpoint && aim ? tagText(setpoint, aim) : '',
    attributes: {
      title: module.description,
      'data-testid': `module-${module.name}`,
      'data-quality': held?.quality,
      'data-mode': module.mode,
      'data-blocked': String(blocked),
      'data-fault': String(faulted),
      'data-bypassed': String(module.interlockBypass.active),
    },
  };
}
