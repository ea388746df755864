/** The whole procedure as one picture, live: what is below an element stands in it, branches that run at once stand beside each other. */
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { boxNowMs } from '../../data/box-clock.js';
import { choosePath, chosenPath, element, states, timeline, tree } from '../../data/procedure.js';
import { HEAD_PX, type PictureBox, pictureOf } from '../../data/procedure-layout.js';
import { runsOf, tookMs } from '../../data/run-rows.js';
import { stale } from '../../data/plant.js';
import { lengthText } from '../../common/length-text.js';
import { t, word, words } from '../../common/strings.js';
import { StateBadge } from '../../plant/state-badge.js';
import { markOf, type StepMark } from './chart-view.js';
import { Transitions } from './element-view.js';

const said = words({
  en: {
    closer: 'Closer',
    wider: 'Wider',
    fit: 'All of it',
    all: 'Open all',
    none: 'Close all',
    open: (name: string) => `Show what is in ${name}`,
    close: (name: string) => `Hide what is in ${name}`,
    keys: 'Arrow keys move the picture, + and - zoom, 0 shows all of it',
    chosen: 'Chosen element',
  },
  de: {
    closer: 'Näher',
    wider: 'Weiter',
    fit: 'Alles',
    all: 'Alle öffnen',
    none: 'Alle schließen',
    open: (name: string) => `Inhalt von ${name} zeigen`,
    close: (name: string) => `Inhalt von ${name} verbergen`,
    keys: 'Pfeiltasten verschieben das Bild, + und - zoomen, 0 zeigt alles',
    chosen: 'Gewähltes Element',
  },
});

const ZOOM = 1.25;
const LEAST = 0.35;
const MOST = 2.5;
/** Room for the button that opens, at any zoom a finger meets it with. */
const OPENER_PX = 44;

export function ProcedurePicture({ choice }: { readonly choice: ComponentChildren }) {
  const area = useRef<HTMLDivElement>(null);
  const [zoom, setZoom] = useState(1);
  /** Elements that somebody has closed; all others are open. */
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const nodes = tree.value;
  const byPath = useMemo(() => new Map(nodes.map((node) => [node.path, node])), [nodes]);
  const root = byPath.get('');
  const picture = useMemo(
    () =>
      root &&
      pictureOf(
        root.chart,
        (path) => byPath.get(path),
        (path) => !closed.has(path),
      ),
    [byPath, closed],
  );
  const path = chosenPath.value;
  useLayoutEffect(() => area.current?.querySelector(`[data-path="${CSS.escape(path)}"]`)?.scrollIntoView({ block: 'nearest', inline: 'nearest' }), [path, picture === undefined]);
  if (!picture) return <section class="panel procedure-whole">{choice}</section>;
  const nowMs = boxNowMs();
  const runs = timeline.value ? runsOf(timeline.value, nowMs) : undefined;
  const put = (next: number): void => setZoom(Math.min(MOST, Math.max(LEAST, next)));
  const fit = (): void => {
    const { clientWidth = 0, clientHeight = 0 } = area.current ?? {};
    put(Math.min(clientWidth / picture.width, clientHeight / picture.height));
  };
  const press = (event: KeyboardEvent): void => {
    const act = { '+': () => put(zoom * ZOOM), '-': () => put(zoom / ZOOM), '0': fit }[event.key];
    if (!act || event.altKey || event.ctrlKey) return;
    event.preventDefault();
    act();
  };
  const toggle = (box: PictureBox): void => {
    const next = new Set(closed);
    if (!next.delete(box.path)) next.add(box.path);
    setClosed(next);
  };
  const chosen = byPath.get(path);
  const found = element.value;
  const sfc = found?.sfcStatus;
  return (
    <section class="panel procedure-whole" aria-label={t.procedure}>
      <header class="page-head">
        {choice}
        <div class="page-filters">
          <button
            type="button"
            class="button"
            onClick={() => setClosed(closed.size > 0 ? new Set() : new Set(nodes.filter(({ isPhase }) => !isPhase).map((node) => node.path)))}
            data-testid="picture-all"
          >
            {closed.size > 0 ? said.all : said.none}
          </button>
          <button type="button" class="button" aria-label={said.closer} onClick={() => put(zoom * ZOOM)} data-testid="picture-closer">
            +
          </button>
          <button type="button" class="button" aria-label={said.wider} onClick={() => put(zoom / ZOOM)} data-testid="picture-wider">
            −
          </button>
          <button type="button" class="button" onClick={fit} data-testid="picture-fit">
            {said.fit}
          </button>
        </div>
      </header>
      <div
        class={stale.value ? 'picture scroll live' : 'picture scroll'}
        ref={area}
        tabIndex={0}
        role="group"
        aria-label={`${t.procedure}. ${said.keys}`}
        onKeyDown={press}
        data-testid="picture"
      >
        <svg
          width={picture.width * zoom}
          height={picture.height * zoom}
          viewBox={`0 0 ${picture.width} ${picture.height}`}
          class="chart"
          role="group"
          aria-label={t.procedure}
          data-zoom={zoom.toFixed(2)}
        >
          {picture.boxes.map((box) => {
            const state = states.value.get(box.path)?.state ?? '';
            const run = runs?.get(box.path);
            const note = [state === '' || state === 'Idle' ? '' : word(state), lengthText(run && tookMs(run, nowMs))].filter((part) => part !== '').join(' · ');
            return <Box key={box.path} box={box} mark={markOf(state)} note={note} isChosen={box.path === path} onToggle={() => toggle(box)} />;
          })}
          {picture.bars.map(({ x, y, width }) => (
            <path key={`${x} ${y}`} class="picture-bar" d={`M${x} ${y} h${width} m0 4 h${-width}`} />
          ))}
          {picture.links.map(({ key, way, barX, barY, number, condition }) => (
            <g key={key} class="flow">
              <title>{condition}</title>
              <path d={way} />
              <path class="flow-bar" d={`M${barX - 10} ${barY} h20`} />
              <text x={barX + 14} y={barY + 4}>
                {number}
              </text>
            </g>
          ))}
        </svg>
      </div>
      {chosen && path !== '' && (
        <div class="picture-chosen" role="group" aria-label={said.chosen} data-testid="picture-chosen">
          <p>
            <strong>{path.replaceAll('/', ' / ')}</strong> {found && <StateBadge state={found.state} />}
          </p>
          {sfc && <Transitions items={sfc.transitionStates} onForce={undefined} />}
        </div>
      )}
    </section>
  );
}

interface BoxProps {
  readonly box: PictureBox;
  readonly mark: StepMark;
  readonly note: string;
  readonly isChosen: boolean;
  readonly onToggle: () => void;
}

/** Enter and Space touch it, as they do a button. */
function keyed(act: () => void): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
}

function Box({ box: { path, name, x, y, width, height, isOpen }, mark, note, isChosen, onToggle }: BoxProps) {
  const choose = (): void => choosePath(path);
  const head = isOpen ? HEAD_PX - 4 : height;
  return (
    <g
      class={`step step-${isOpen ? `within step-within-${mark}` : mark}`}
      transform={`translate(${x} ${y})`}
      data-path={path}
      data-mark={mark}
      data-chosen={String(isChosen)}
      data-testid={`box-${path}`}
    >
      <rect class="step-frame" width={width} height={height} />
      <g role="button" tabindex={0} class="step-open" aria-pressed={isChosen} aria-label={`${path.replaceAll('/', ' / ')} ${note}`} onClick={choose} onKeyDown={keyed(choose)}>
        <rect class="step-head" width={width - (isOpen === undefined ? 0 : OPENER_PX)} height={head} />
        <text x="10" y={note === '' ? head / 2 + 5 : head / 2 - 3}>
          {name}
        </text>
        {note !== '' && (
          <text class="step-note" x="10" y={head / 2 + 14}>
            {note}
          </text>
        )}
      </g>
      {isOpen !== undefined && (
        <g
          role="button"
          tabindex={0}
          class="step-open"
          aria-expanded={isOpen}
          aria-label={(isOpen ? said.close : said.open)(name)}
          onClick={onToggle}
          onKeyDown={keyed(onToggle)}
          data-testid={`toggle-${path}`}
        >
          <rect class="step-head" x={width - OPENER_PX} width={OPENER_PX} height={head} />
          <text x={width - OPENER_PX / 2 - 5} y={head / 2 + 5}>
            {isOpen ? '−' : '+'}
          </text>
        </g>
      )}
      {isChosen && <rect class="step-chosen" x="-3" y="-3" width={width + 6} height={height + 6} />}
    </g>
  );
}
