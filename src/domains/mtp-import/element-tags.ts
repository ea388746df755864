/** A variable of an element as a tag of its control module: with the scale, the unit and the words that the package has as constants. */
import type { ChannelType } from '../io-modules/kind.js';
import { isNumberText, TagName } from '../../platform/store/fields.js';
import * as v from 'valibot';
import type { PlannedVariable } from './channel-plan.js';
import type { Assembly } from './module-package.js';
import type { Report } from './report.js';
import { scaleOf, unitOfCode } from './variables.js';

export interface PlannedTag {
  readonly name: string;
  readonly dataType: 'Boolean' | 'Integer' | 'Float' | 'String';
  readonly accessLevel: 'read' | 'readwrite';
  readonly channel: string;
  readonly engMin?: string;
  readonly engMax?: string;
  readonly engUnits?: string;
  readonly trueLabel?: string;
  readonly falseLabel?: string;
}

const TAG_TYPE: Readonly<Record<ChannelType, PlannedTag['dataType']>> = { bool: 'Boolean', int: 'Integer', float: 'Float', string: 'String' };

export function tagOf({ assembly, variable, channel }: PlannedVariable, ioModule: string, report: Report): PlannedTag | undefined {
  if (!v.is(TagName, variable.name)) {
    report.add('warning', variable.path, 'its name is no name of a tag (a letter, then letters, digits, _ or -): it is a channel without a tag');
    return undefined;
  }
  const dataType = TAG_TYPE[channel.dataType || 'float'];
  return {
    name: variable.name,
    dataType,
    accessLevel: channel.direction === 'output' ? 'readwrite' : 'read',
    channel: `${ioModule}:${channel.name || channel.address}`,
    ...(dataType === 'Boolean' ? labels(assembly, variable.name) : scale(assembly, variable.name, report)),
  };
}

const constantOf = ({ variables }: Assembly, name: string): string => variables.find((each) => each.name === name)?.constant ?? '';

function labels(assembly: Assembly, name: string): Pick<PlannedTag, 'trueLabel' | 'falseLabel'> {
  if (scaleOf(name) !== 'V') return {};
  const trueLabel = constantOf(assembly, 'VState1');
  const falseLabel = constantOf(assembly, 'VState0');
  return { ...(trueLabel === '' ? {} : { trueLabel }), ...(falseLabel === '' ? {} : { falseLabel }) };
}

/** Bounds of what is written are those that the module accepts (`VMin`, `VMax`), else its scale. */
function scale(assembly: Assembly, name: string, report: Report): Pick<PlannedTag, 'engMin' | 'engMax' | 'engUnits'> {
  const of = scaleOf(name);
  if (of === undefined) return {};
  const number = (...names: readonly string[]): string => names.map((each) => constantOf(assembly, `${of}${each}`)).find((text) => isNumberText(text)) ?? '';
  const engMin = number('Min', 'SclMin');
  const engMax = number('Max', 'SclMax');
  const isScale = engMin !== '' && engMax !== '' && Number(engMin) < Number(engMax);
  const code = constantOf(assembly, `${of}Unit`);
  const engUnits = code === '' || code === '0' ? undefined : unitOfCode(code);
  if (code !== '' && code !== '0' && engUnits === undefined)
    report.add('warning', `${assembly.path}@${of}Unit`, `the engineering unit number ${code} is not known: the tag has none`);
  return { ...(isScale ? { engMin, engMax } : {}), ...(engUnits === undefined ? {} : { engUnits }) };
}
