/** A measured value of a unit, live. What moves redraws its own number and pointer. */
import { computed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { departure } from '../data/departures.js';
import type { Measurement } from '../data/key-tags.js';
import { limitsOf, workingRange } from '../data/limits.js';
import { lately } from '../data/lately.js';
import { modules, stale, tagValue } from '../data/plant.js';
import type { Alarm, ModuleInfo, TagValue } from '../data/types.js';
import { t, word, words } from '../common/strings.js';
import { momentText, numberText, recordText, unitText } from '../common/text.js';
import { Spark } from '../parts/spark.js';
import type { MarkKind } from '../parts/mark.js';
import { type Trust, ValueTile } from '../parts/value-tile.js';
import { standingOn } from './alarm.js';

interface MeasuredProps {
  readonly unit: string;
  readonly measurement: Measurement;
  /** A batch works on the unit: what departs from the recipe is conspicuous then. */
  readonly inBatch?: boolean;
}

const said = words({
  en: { lately: 'its last ten minutes', stale: 'stale', forced: (by: string) => `forced by ${by}`, bypassed: (until: string) => `bypassed until ${until}` },
  de: { lately: 'die letzten zehn Minuten', stale: 'veraltet', forced: (by: string) => `geforct von ${by}`, bypassed: (until: string) => `überbrückt bis ${until}` },
});

const UNTRUSTED: Readonly<Record<TagValue['quality'], { readonly trust: Trust; readonly marks: readonly MarkKind[] }>> = {
  Good: { trust: 'live', marks: [] },
  Bad: { trust: 'bad', marks: ['bad'] },
  Uncertain: { trust: 'none', marks: ['uncertain'] },
  Raw: { trust: 'none', marks: ['uncertain'] },
  '': { trust: 'none', marks: [] },
};

export function MeasuredValue({ unit, measurement, inBatch = false }: MeasuredProps) {
  const { tag, range, variable, description } = measurement;
  const held = tagValue(unit, tag.address);
  const live = useMemo(() => liveOf(unit, measurement, inBatch), [held, unit, measurement, inBatch]);
  const module = modules.value.get(measurement.module);
  const alarm = standingOn.value.get(measurement.module);
  const quality = live.quality.value;
  const { trust, marks } = stale.value ? { trust: 'stale' as const, marks: ['stale' as const] } : UNTRUSTED[quality];
  const override = module?.overrides.find((each) => each.tag === tag.name);
  const isManual = module?.mode === 'Manual';
  const { limits } = limitsOf(measurement);
  const reason = stale.value ? said.stale : quality === 'Good' ? reasonOf(alarm, override, module) : (t.qualities[quality] ?? quality);
  return (
    <ValueTile
      shape="line"
      name={t.variables[variable] ?? (variable || description)}
      tag={measurement.module.toUpperCase()}
      description={`${tag.address} ${description}`}
      text={live.text}
      unit={unitText(tag.engUnits)}
      bar={range && { range: workingRange(range, limits), value: live.value, setpoint: live.setpoint, band: live.band, limits }}
      trust={trust}
      severity={alarm?.severity}
      isOff={live.isOff.value && module?.mode === 'Automatic'}
      marks={[
        ...marks,
        ...(override ? (['forced'] as const) : []),
        ...(module?.interlockBypass.active === true ? (['bypassed'] as const) : []),
        ...(isManual && inBatch ? (['manual'] as const) : []),
      ]}
      quietMarks={isManual && !inBatch ? ['manual'] : []}
      note={<Note live={live} reason={reason} module={measurement.module} />}
      spark={range && <Lately unit={unit} measurement={measurement} />}
      testid={`value-${tag.address}`}
      quality={quality}
    />
  );
}

/** As it was over the last minutes, on the scale of its bar. */
function Lately({ unit, measurement }: { readonly unit: string; readonly measurement: Measurement }) {
  const { tag, range } = measurement;
  const { times, values } = lately(unit, tag.address).value;
  const { limits } = limitsOf(measurement);
  if (!range || times.length < 2) return null;
  return <Spark times={times} values={values} range={workingRange(range, limits)} label={said.lately} />;
}

/** What changes with the values of the tags, each by itself. */
function liveOf(unit: string, measurement: Measurement, inBatch: boolean) {
  const { tag, setpoint, range } = measurement;
  const [held, target] = [tagValue(unit, tag.address), setpoint && tagValue(unit, setpoint.address)];
  const span = range ? Math.max(Math.abs(range.min), Math.abs(range.max)) : undefined;
  const aim = computed(() => numberOf(target?.value.value));
  const departs = computed(() => (inBatch ? departure(unit, measurement) : undefined));
  return {
    quality: computed(() => held.value.quality),
    text: computed(() => textOf(held.value.value, span)),
    value: computed(() => numberOf(held.value.value)),
    setpoint: aim,
    setpointText: computed(() => (aim.value === undefined ? '' : `${t.setpoint} ${numberText(aim.value, span)}`)),
    band: computed(() => {
      const { deviation } = limitsOf(measurement);
      return aim.value === undefined || deviation === undefined ? undefined : { min: aim.value - deviation, max: aim.value + deviation };
    }),
    departs,
    isOff: computed(() => departs.value !== undefined),
  };
}

function numberOf(value: TagValue['value'] | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function textOf(value: TagValue['value'], span: number | undefined): string {
  return typeof value === 'number' ? numberText(value, span) : '–';
}

/** Why it is marked, in a few words; the worst first. */
function reasonOf(alarm: Alarm | undefined, override: { readonly by: string } | undefined, module: ModuleInfo | undefined): string {
  if (alarm) return `${word(alarm.severity)}, ${t.conditions[alarm.conditionType] ?? alarm.conditionType} ${recordText(alarm.setpoint, true)}`;
  if (override) return said.forced(override.by);
  return module?.interlockBypass.active === true ? said.bypassed(momentText(module.interlockBypass.until)) : '';
}

/** Beside the reason what departs from the recipe, else the setpoint. */
function Note({ live, reason, module }: { readonly live: ReturnType<typeof liveOf>; readonly reason: string; readonly module: string }) {
  const departs = live.departs.value;
  return (
    <>
      {reason !== '' && <span>{reason}</span>} {departs !== undefined && <strong data-testid={`departs-${module}`}>{departs}</strong>}
      {reason === '' && departs === undefined && live.setpointText.value}
    </>
  );
}
