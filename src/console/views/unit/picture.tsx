/**
 * The unit as it is piped: vessel, pipes with what stands in them, where they come from and lead to (ISA-101 level 2). Drawn from the model; pipes are
 * thick while something flows. Lines and the vessel are one drawing; what can be touched lies on it as buttons of the page, each 44 px or more.
 */
import { useMemo } from 'preact/hooks';
import { departure } from '../../data/departures.js';
import { limitsOf, workingRange } from '../../data/limits.js';
import type { ModuleTags } from '../../data/module-tags.js';
import { flowing, type Passage } from '../../data/picture-flow.js';
import { heads } from '../../data/picture-route.js';
import { keyTags, stale, tagValue, unitInfo, units } from '../../data/plant.js';
import { type EndPicture, type ModulePicture, type PipePicture, pictureOf, type UnitPicture } from '../../data/unit-picture.js';
import { addressOf } from '../../data/view.js';
import { deviceLook } from '../../data/device-look.js';
import { t, words } from '../../common/strings.js';
import { standingOn } from '../../plant/alarm.js';
import { SeverityBadge } from '../../parts/badge.js';
import { Bar } from '../../parts/bar.js';
import { FromTo, Symbol } from '../../parts/symbols.js';
import { VesselBody } from '../../parts/vessel.js';
import { levelOf } from './level.js';
import { lookOf } from './module-look.js';
import { lineOf } from './picture-line.js';
import './picture.css';

const said = words({
  en: { picture: (unit: string) => `Picture of ${unit}`, flows: 'flows', stands: 'stands', isNotThere: 'is not there' },
  de: { picture: (unit: string) => `Bild von ${unit}`, flows: 'fließt', stands: 'steht', isNotThere: 'gibt es nicht' },
});

interface PictureProps {
  readonly unit: string;
  readonly found: readonly ModuleTags[];
  readonly chosen: string;
  readonly onChoose: (module: string) => void;
}

export function Picture({ unit, found, chosen, onChoose }: PictureProps) {
  const info = unitInfo.value.get(unit);
  const picture = useMemo(
    () =>
      pictureOf(
        info ?? { symbolId: '' },
        found.map(({ module }) => module),
      ),
    [info, found],
  );
  const byName = new Map(found.map((tags) => [tags.module.name, tags]));
  return (
    <div class="picture-place scroll" tabIndex={0} role="group" aria-label={said.picture(unit.toUpperCase())} data-testid="picture">
      <div class="picture" style={{ '--w': picture.width, '--h': picture.height }}>
        <svg class="picture-lines" viewBox={`0 0 ${picture.width} ${picture.height}`} aria-hidden="true">
          <Pipes unit={unit} picture={picture} byName={byName} />
          <Body unit={unit} picture={picture} byName={byName} />
        </svg>
        {picture.ends.map((end) => (
          <End key={end.item} end={end} picture={picture} />
        ))}
        {picture.modules.map((place) => {
          const tags = byName.get(place.name);
          const own = { place, picture, unit };
          if (!tags) return <Missing key={place.name} {...own} />;
          return place.stands === 'beside' || place.stands === 'inside' ? (
            <Instrument key={place.name} {...own} tags={tags} chosen={place.name === chosen} onChoose={onChoose} />
          ) : (
            <Device key={place.name} {...own} tags={tags} chosen={place.name === chosen} onChoose={onChoose} />
          );
        })}
      </div>
    </div>
  );
}

function at({ x, y }: { readonly x: number; readonly y: number }, { width, height }: UnitPicture): Readonly<Record<string, string>> {
  return { left: `${(x / width) * 100}%`, top: `${(y / height) * 100}%` };
}

/** What lets nothing through although it is a valve or a pump: everything else has no part in a flow. */
const INERT: readonly string[] = ['exchanger', 'filter', 'agitator'];
/** Of a position or a speed in percent, and of the range of a meter: less is nothing. */
const LEAST_SHARE = 0.01;

function passageOf(unit: string, tags: ModuleTags | undefined): Passage {
  if (!tags) return 'shut'; // of what is not there nobody knows that anything goes through
  const { module, main } = tags;
  if (INERT.includes(module.symbolId) || !main) return 'none';
  const held = tagValue(unit, main.address).value;
  if (module.deviceClass === 'sensor' || module.deviceClass === 'controller') {
    if (module.measuredVariable !== 'Flow') return 'none';
    const range = Number.parseFloat(main.engMax);
    const least = (Number.isFinite(range) ? Math.abs(range) : 1) * LEAST_SHARE;
    return held.quality !== 'Good' || typeof held.value !== 'number' ? 'none' : Math.abs(held.value) > least ? 'open' : 'shut';
  }
  if (typeof held.value === 'number') return held.quality === 'Good' && held.value > 100 * LEAST_SHARE ? 'open' : 'shut';
  return deviceLook(held) === 'active' ? 'open' : 'shut';
}

interface DrawnProps {
  readonly unit: string;
  readonly picture: UnitPicture;
  readonly byName: ReadonlyMap<string, ModuleTags>;
}

function Pipes({ unit, picture, byName }: DrawnProps) {
  const connections = picture.pipes.map(({ connection }) => connection);
  const flows = stale.value ? [] : flowing(connections, (name) => passageOf(unit, byName.get(name)));
  const still = picture.pipes.filter((_, at) => flows[at] !== true);
  const moving = picture.pipes.filter((_, at) => flows[at] === true);
  return (
    <>
      {still.map((pipe) => (
        <Line key={pipe.at} pipe={pipe} flows={false} />
      ))}
      {moving.map((pipe) => (
        <Line key={pipe.at} pipe={pipe} flows />
      ))}
    </>
  );
}

function Line({ pipe: { at: index, points, connection }, flows }: { readonly pipe: PipePicture; readonly flows: boolean }) {
  return (
    <g data-testid={`pipe-${index}`} data-flows={String(flows)} data-medium={connection.medium}>
      <path class={flows ? 'pipe-line pipe-moves' : 'pipe-line'} d={lineOf(points)} />
      {flows && heads(points).map(({ x, y, turn }) => <path key={`${x} ${y}`} class="pipe-arrow" d="M-4 -5L3 0L-4 5" transform={`translate(${x} ${y}) rotate(${turn})`} />)}
    </g>
  );
}

function Body({ unit, picture: { vessel, modules }, byName }: DrawnProps) {
  if (!vessel) return null;
  const level = levelOf(unit);
  const agitator = byName.get(modules.find(({ stands }) => stands === 'top')?.name ?? '');
  const runs = agitator !== undefined && lookOf(unit, agitator).look === 'active';
  return (
    <VesselBody
      id={vessel.shape}
      box={vessel}
      level={stale.value ? undefined : level?.share}
      scale={level?.scale}
      hasJacket={vessel.hasJacket}
      agitator={agitator === undefined ? undefined : runs && !stale.value ? 'runs' : 'stands'}
    />
  );
}

function End({ end, picture }: { readonly end: EndPicture; readonly picture: UnitPicture }) {
  const { item, text, unit, isSource } = end;
  const classes = isSource ? 'picture-end picture-source' : 'picture-end';
  const isThere = unit !== '' && units.value.some(({ name }) => name === unit);
  return (
    <span class={classes} style={at(end, picture)} data-item={item} data-testid={`end-${item.replaceAll(' ', '-')}`}>
      {isThere ? (
        <a class="picture-way" href={addressOf('unit', unit)}>
          <FromTo name={text} />
        </a>
      ) : (
        <FromTo name={unit === '' ? text : `${text} ${said.isNotThere}`} />
      )}
    </span>
  );
}

interface StandingProps {
  readonly unit: string;
  readonly place: ModulePicture;
  readonly picture: UnitPicture;
}

function Missing({ place, picture }: StandingProps) {
  return (
    <span class="picture-device" style={at(place, picture)} data-testid={`missing-${place.name}`}>
      <Symbol id="valve-hand" deviceClass="other" look="unknown" tag={place.name} />
      <span class="picture-label">
        {place.name.toUpperCase()} {said.isNotThere}
      </span>
    </span>
  );
}

interface TouchedProps extends StandingProps {
  readonly tags: ModuleTags;
  readonly chosen: boolean;
  readonly onChoose: (module: string) => void;
}

/** The bodies of valves lie below the middle of their symbol, so that the pipe meets them. */
const LOW_SYMBOL = /^valve/;

function Device({ unit, place, picture, tags, chosen, onChoose }: TouchedProps) {
  const { module, main } = tags;
  const { look, marks, quietMarks, value, attributes } = lookOf(unit, tags);
  const id = place.stands === 'top' ? 'motor' : module.symbolId;
  const isLow = LOW_SYMBOL.test(id) || (id === '' && module.deviceClass === 'valve');
  const isNumber = main?.dataType === 'Float';
  const alarm = standingOn.value.get(module.name);
  return (
    <button
      type="button"
      class={['picture-device', ...(isLow ? ['picture-low'] : []), ...(place.stands === 'top' ? ['picture-top'] : []), 'module', 'live'].join(' ')}
      style={at(place, picture)}
      aria-pressed={chosen}
      aria-label={`${module.name.toUpperCase()} ${module.description}: ${value}`}
      onClick={() => onChoose(module.name)}
      {...attributes}
    >
      <Symbol id={id} deviceClass={module.deviceClass} look={look} tag={module.name} marks={marks} quietMarks={quietMarks} />
      <span class="picture-label">
        {alarm && <SeverityBadge severity={alarm.severity} hasWord={false} />}
        {module.deviceClass !== 'sensor' && <strong>{module.name.toUpperCase()}</strong>}
        {(isNumber || look === 'fault') && <span class="number picture-value">{value}</span>}
      </span>
    </button>
  );
}

/** A value that stands in no pipe: its bubble, the number, and the bar with its limits. */
function Instrument({ unit, place, picture, tags, chosen, onChoose }: TouchedProps) {
  const { module } = tags;
  const { look, marks, quietMarks, value, target, attributes } = lookOf(unit, tags);
  const alarm = standingOn.value.get(module.name);
  return (
    <button
      type="button"
      class={`picture-instrument picture-${place.stands} module live`}
      style={at(place, picture)}
      aria-pressed={chosen}
      onClick={() => onChoose(module.name)}
      {...attributes}
    >
      <Symbol id={module.symbolId} deviceClass={module.deviceClass} look={look === 'active' ? 'rest' : look} tag={module.name} marks={marks} quietMarks={quietMarks} />
      <span class="picture-reading">
        <span class="picture-number">
          {alarm && <SeverityBadge severity={alarm.severity} hasWord={false} />}
          <span class="visually-hidden">{module.name.toUpperCase()} </span>
          <strong class="number">{value}</strong>
          {target !== '' && (
            <span class="hint number">
              {t.setpoint} {target}
            </span>
          )}
        </span>
        {place.stands === 'beside' && <Reading unit={unit} module={module.name} />}
      </span>
    </button>
  );
}

function Reading({ unit, module }: { readonly unit: string; readonly module: string }) {
  const measurement = keyTags.value.get(unit)?.measurements.find((each) => each.module === module);
  if (!measurement?.range) return null;
  const { tag, setpoint, range } = measurement;
  const { limits } = limitsOf(measurement);
  const held = tagValue(unit, tag.address).value;
  const aim = setpoint ? tagValue(unit, setpoint.address).value.value : undefined;
  const isTrusted = held.quality === 'Good' && typeof held.value === 'number' && !stale.value;
  const inBatch = (units.value.find(({ name }) => name === unit)?.allocatedTo ?? '') !== '';
  const departs = inBatch ? departure(unit, measurement) : undefined;
  const look = standingOn.value.get(module)?.severity ?? (departs === undefined ? 'normal' : 'off');
  return (
    <>
      <Bar
        range={workingRange(range, limits)}
        value={isTrusted ? (held.value as number) : undefined}
        setpoint={typeof aim === 'number' ? aim : undefined}
        limits={limits}
        look={look}
      />
      {departs !== undefined && <strong class="picture-departs">{departs}</strong>}
    </>
  );
}
