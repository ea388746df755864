/**
 * What the HMI knows of one site: read by REST, kept up by the stream, read again after a gap. Tag values are one signal
 * each, so that a value that moves redraws its own text and nothing else.
 */
import { computed, effect, signal } from '@preact/signals';
import { keepHere, keptHere } from '../common/kept-here.js';
import { readAlarms, readAlarmSoon, readTouchedSoon, forgetTouched } from './alarm-list.js';
import { get, getAll } from './api.js';
import { forgetElements, forgetElementsOf, forgetWork, noteActiveWork, noteElement, readPhases, readPrompts, readPromptsSoon } from './at-work.js';
import { batches, readBatches, readBatchesSoon } from './batch-list.js';
import { clocksMoved, noteBoxTime } from './box-clock.js';
import { type KeyTags, keyTagsOf, patternsOf } from './key-tags.js';
import { Latest } from './latest.js';
import type { ChannelName } from '../../platform/stream/channel.js';
import { LiveStream, type Subscription } from './live-stream.js';
import { ofPart, type Part, reads, readsAll, startParts } from './plant-parts.js';
import { forgetFaults, forgetReads, reader } from './plant-readers.js';
import { accessToken, can, endSession, onNewToken, renew } from './session.js';
import { readOutputs, silent } from './silent-outputs.js';
import { atSite, BACKGROUND, LIST_PAGE, showing, site, sites } from './site.js';
import { isFinal } from './states.js';
import { dropValues, forgetOthers, forgetValues, receiveTag } from './tag-values.js';
import { coalesced, everySecond } from './timers.js';
import type { AlarmDefinition, BatchItem, Frame, ModuleInfo, OverviewUnit, Site, SiteOverview, StateFrame, TagDescriptor, UnitInfo } from './types.js';

export { alarms, readAlarmSoon } from './alarm-list.js';
export { phases, prompts, readPromptsSoon } from './at-work.js';
export { batchCount, batches, batchesNext, type BatchSet, findBatches, readBatchesSoon } from './batch-list.js';
export { readFault } from './plant-readers.js';
export { silent } from './silent-outputs.js';
export { atSite, site, sites } from './site.js';
export { onTag, tagValue } from './tag-values.js';

const SITE_KEY = 'lineside.site';
/** Over which the panels of a site ask for its lists after an apply. */
const MODEL_SPREAD_MS = 500;
/** So long a first read waits for the stream: from its answer on nothing is left out, and nothing need be read again. */
const STREAM_MS_MAX = 1000;

export const units = signal<readonly OverviewUnit[]>([]);
export const unitInfo = signal<ReadonlyMap<string, UnitInfo>>(new Map(), ofPart('plant'));
export const keyTags = signal<ReadonlyMap<string, KeyTags>>(new Map());
/** All tags and control modules of the site, as engineering describes them. */
export const tagList = signal<readonly TagDescriptor[]>([], ofPart('plant'));
export const modules = signal<ReadonlyMap<string, ModuleInfo>>(new Map(), ofPart('plant'));
/** What raises them; limits of values stand in them. Read when somebody has engineered; which of them are armed is told by the overview. */
export const definitions = signal<readonly AlarmDefinition[]>([]);
/** Link between gateway and unit runtimes (decisions Q-STREAM-03). */
export const brokerConnected = signal(true);
/** The first complete picture of the site is there. */
export const ready = signal(false);
/** Counts losses of frames on an open connection, so that curves read what they missed. */
export const missed = signal(0);
/** Counts losses of frames and new connections. */
const untold = signal(0);
/** Counts changes of the batch that the detail view shows, so that it reads again. */
export const batchTouched = signal<{ readonly batch: string; readonly count: number }>({ batch: '', count: 0 });

export const stream = new LiveStream({
  token: accessToken,
  onFrame: receive,
  onMissed: (isNew) => {
    untold.value += 1;
    if (begun) readAgain(); // else the first read comes after this
    if (!isNew) curvesMissed(); // on a new connection they read again by themselves
  },
  onOpened: () => {
    forgetValues();
    forgetElements();
    forgetFaults(); // everything is read again now
  },
  onSessionEnded: (reason) => endSession(reason),
  onRefused: () => void renew().catch(() => undefined),
});
onNewToken((token) => stream.authenticate(token));

/** What was told while nobody heard it, as that an element is held, is told by no later frame: who shows it reads again. @returns ends it. */
export function whenUntold(readSoon: () => void): () => void {
  let known = untold.peek();
  return effect(() => {
    if (untold.value !== known) readSoon();
    known = untold.value;
  });
}

export const stale = computed(() => stream.liveness.value !== 'live' || !brokerConnected.value);

/** @param asked the site that is shown, where there is such a one. @param onPanel everything is read and kept up; else what is looked at. */
export async function startPlant(asked: string, onPanel: boolean): Promise<void> {
  startParts(onPanel, followPart);
  stream.start();
  await findSite(asked);
  if (isReading) return;
  isReading = true;
  everySecond(() => readOften());
}

/** A page whose start failed at a later step starts again. */
let isReading = false;

/** A part is looked at for the first time: before the first read it is read with the others. */
function followPart(part: Part): void {
  if (!begun) return;
  if (part === 'plant') model = UNREAD;
  stream.subscribe(subscriptions());
  void { plant: readOverview, batches: readBatches, prompts: readPrompts, alarms: readAlarms }[part]();
}

/** The site that is asked for, the one shown last on this panel, else the first. */
async function findSite(asked: string): Promise<void> {
  const found = await askSites();
  sites.value = found.map(({ name }) => name);
  const last = keptHere(SITE_KEY) ?? '';
  await showSite([asked, last].find((name) => sites.value.includes(name)) ?? sites.value[0] ?? '');
}

let shows = 0;
/** The first read is under way: what the stream misses from now on is read again. */
let begun = false;
/** Something has changed while the site was read. */
let hasNews = false;

export async function showSite(name: string): Promise<void> {
  site.value = name;
  ready.value = name === ''; // a box without a plant shows that it has none
  dropValues();
  forgetWork();
  engineering.forget();
  forgetReads();
  forgetTouched();
  model = undefined;
  told = undefined;
  keyTags.value = new Map();
  silent.value = [];
  if (name === '') return;
  keepHere(SITE_KEY, name);
  showing.value = true;
  shows += 1;
  const own = shows;
  try {
    generation += 1;
    stream.subscribe(subscriptions());
    await stream.answered(STREAM_MS_MAX);
    begun = true;
    hasNews = false;
    const overview = can('overview:read') ? await askOverview() : undefined;
    if (own !== shows) return; // another site is shown meanwhile
    first = overview;
    await Promise.all([readAll(), readEngineering(overview?.modelRevision ?? 0)]);
    if (own !== shows) return;
    ready.value = true;
  } finally {
    if (own === shows) showing.value = false;
  }
  readTouchedSoon();
  if (hasNews) readBatchesSoon();
  if (hasNews) readPromptsSoon();
  if (hasNews || (told !== undefined && told !== model)) readUnitsSoon();
}

const engineering = new Latest();
/** The revision of the plant that the lists below show; undefined before they are read. */
let model: number | undefined;
const UNREAD = -1;
/** The revision that the stream told last. */
let told: number | undefined;

/** What changes only when somebody engineers. @param revision what the box said before it was asked: the lists hold that and perhaps more. */
async function readEngineering(revision: number): Promise<void> {
  const isFollowed = model !== undefined;
  if (!reads('plant')) {
    model = revision;
    if (isFollowed) sites.value = (await askSites()).map(({ name }) => name);
    return;
  }
  const options = isFollowed ? BACKGROUND : {}; // that others engineer is no sign of a person here
  await engineering.read(
    () =>
      Promise.all([
        isFollowed ? askSites() : undefined, // at the beginning they have just been read
        getAll<TagDescriptor>(atSite(`tags?limit=${LIST_PAGE}`), options),
        getAll<ModuleInfo>(atSite(`controlmodules?limit=${LIST_PAGE}`), options),
        getAll<UnitInfo>(atSite(`units?limit=${LIST_PAGE}`), options),
        can('alarmdefinition:list') ? getAll<AlarmDefinition>(atSite(`alarmdefinitions?limit=${LIST_PAGE}`), options) : [],
      ]),
    ([known, tags, found, info, raising]) => {
      model = revision;
      if (known) sites.value = known.map(({ name }) => name);
      const byName = new Map(found.map((module) => [module.name, module]));
      unitInfo.value = new Map(info.map((unit) => [unit.name, unit]));
      tagList.value = tags;
      definitions.value = raising;
      modules.value = byName;
      keyTags.value = new Map(info.map(({ name }) => [name, keyTagsOf(name, tags, byName)]));
      stream.subscribe(subscriptions());
    },
  );
}

function askSites(): Promise<readonly Site[]> {
  return getAll<Site>(`/api/v1/sites?limit=${LIST_PAGE}`, BACKGROUND);
}

let generation = 0;
/** What the open views need beyond the tiles of the overview. */
const watched = new Map<number, { readonly unit: string; readonly patterns: readonly string[] }>();
let watches = 0;

/** Ids are new for each site shown, so that late frames of the old one are told apart, and say what is subscribed: what stays goes on. */
function subscriptions(): Subscription[] {
  const filter = site.peek() === '' ? {} : { site: site.peek() }; // a box without a site yet
  const channels: readonly ChannelName[] = ['model', ...(reads('batches') ? (['states'] as const) : []), ...(reads('alarms') && can('alarm:list') ? (['alarms'] as const) : [])];
  const wanted = channels.map((channel) => ({ id: `${generation}-${channel}`, channel, filter }) as const);
  const ofTiles = (readsAll() ? patternsOf(keyTags.peek().values()) : []).map(
    (addressPattern) => ({ id: `${generation}-tags-${addressPattern}`, channel: 'tags', filter: { ...filter, addressPattern } }) as const,
  );
  const ofViews = [...watched].flatMap(([id, { unit, patterns }]) =>
    patterns.map((addressPattern, at) => ({ id: `${generation}-view-${id}-${at}`, channel: 'tags', filter: { ...filter, unit, addressPattern } }) as const),
  );
  return [...wanted, ...ofTiles, ...ofViews];
}

/** Live values of a unit for as long as a view shows them. @returns ends it; what nobody hears any more is forgotten. */
export function watchTags(unit: string, patterns: readonly string[]): () => void {
  watches += 1;
  const id = watches;
  watched.set(id, { unit, patterns });
  stream.subscribe(subscriptions());
  return () => {
    watched.delete(id);
    stream.subscribe(subscriptions());
    forgetOthers(tileAddresses());
  };
}

function tileAddresses(): Set<string> {
  const addresses = new Set<string>();
  for (const [unit, { measurements, devices }] of keyTags.peek()) {
    const tags = [...measurements.flatMap(({ tag, setpoint, enable }) => [tag, setpoint, enable]), ...devices.map(({ state }) => state)];
    for (const tag of tags) if (tag) addresses.add(`${unit} ${tag.address}`);
  }
  return addresses;
}

/** Modes and health of modules are told by no channel. */
export const readModules = reader(
  () => getAll<ModuleInfo>(atSite(`controlmodules?limit=${LIST_PAGE}`), BACKGROUND),
  (found) => {
    modules.value = new Map(found.map((module) => [module.name, module]));
  },
  'plant',
);

/** A slow panel may lose frames again and again: the past is not asked for each time. */
const MISSED_MS = 3000;
const curvesMissed = coalesced(MISSED_MS, async () => {
  missed.value += 1;
});

const readAgain = coalesced(200, () => readAll());

/** What is shown may be of no use: all of the site is read again, but for what is engineered. */
export function readAnew(): void {
  if (begun) readAgain();
}

async function readAll(): Promise<void> {
  if (site.peek() === '') return;
  await Promise.all([readOverview(), readBatches(), readPrompts(), readAlarms(), readOutputs()]);
}

async function askOverview(): Promise<SiteOverview> {
  const askedMonoMs = performance.now();
  const overview = await get<SiteOverview>(atSite('overview'), BACKGROUND);
  noteBoxTime(overview.asOf, performance.now() - askedMonoMs);
  return overview;
}

/** The overview that a site begins with, until it is shown. */
let first: SiteOverview | undefined;

const readOverview = reader(
  async () => {
    const known = first;
    first = undefined;
    const overview = known ?? (await askOverview());
    if (model !== undefined && overview.modelRevision !== model) await readEngineering(overview.modelRevision);
    return overview;
  },
  (overview) => {
    units.value = overview.units;
    arm(overview.armedByPhase);
    noteActiveWork(overview.units);
  },
);

/** Definitions of a phase are armed while it runs; what else they are changes only when somebody engineers. */
function arm(byPhase: readonly string[]): void {
  const isArmed = ({ name, gatedBy, armed }: AlarmDefinition): boolean => (gatedBy === '' ? armed : byPhase.includes(name));
  if (definitions.peek().some((each) => isArmed(each) !== each.armed)) definitions.value = definitions.peek().map((each) => ({ ...each, armed: isArmed(each) }));
}

const readUnitsSoon = coalesced(120, () => readOverview());

/** Somebody at this panel has engineered: the overview tells the new revision, and what belongs to it is read. */
export function readEngineeringSoon(): void {
  readUnitsSoon();
}

/** The list is as long as all channels of the site, and changes when somebody engineers or another box takes over. */
const OUTPUTS_EVERY_S = 15;

/** Modes, health and bypasses of modules: a bypass that another panel has set must not stay unseen on this one. */
const MODULES_EVERY_S = 5;

/** Of a plant in which nothing changes nothing tells what time it is at the box, and clocks drift. */
const TIME_EVERY_S = 600;
let seconds = 0;

/** What no channel tells: steps of phases, prompts, and what people set at modules. */
async function readOften(): Promise<void> {
  if (document.hidden || showing.peek()) return;
  if (!ready.peek()) return showSite(site.peek()).catch(() => undefined); // the box was away while another site was chosen
  seconds += 1;
  if (site.peek() !== '' && (clocksMoved() || seconds % TIME_EVERY_S === 0)) await readOverview();
  if (site.peek() !== '' && seconds % MODULES_EVERY_S === 0) await readModules();
  if (site.peek() !== '' && seconds % OUTPUTS_EVERY_S === 0) await readOutputs();
  if (site.peek() === '') await readSites();
  else await Promise.all([readPrompts(), readsAll() ? readPhases() : undefined]);
}

/** A box without a plant is asked until it has one. */
const readSites = reader(
  () => findSite(''),
  () => undefined,
);

function receive(frame: Frame): void {
  if (frame.type === 'broker-status') brokerConnected.value = frame.status === 'connected';
  if (!('site' in frame) || frame.site !== site.peek()) return;
  if (frame.type === 'tag') receiveTag(frame);
  else if (frame.type === 'state') receiveState(frame, frame.replay === true);
  else if (frame.type === 'model') receiveModel(frame.revision);
  else if (frame.type === 'alarm' && frame.replay !== true) readAlarmSoon(frame.name); // the snapshot of a new connection is read whole
}

/** Somebody has engineered, or the box was started anew. Not all panels read whole lists in the same moment. */
function receiveModel(revision: number): void {
  told = revision;
  if (!showing.peek() && revision !== model) window.setTimeout(readUnitsSoon, Math.random() * MODEL_SPREAD_MS);
}

function receiveState(frame: StateFrame, replay: boolean): void {
  const { kind, name, state, mode, batchRef } = frame;
  if (kind === 'Batch') {
    if (isFinal(state)) forgetElementsOf(name);
    if (!replay && !showing.peek()) readBatchesSoon();
    const isOther = (batch: BatchItem): boolean => batch.name === name && (batch.phase !== state || batch.mode !== mode);
    if (batches.peek().some(isOther)) batches.value = batches.peek().map((batch) => (isOther(batch) ? { ...batch, phase: state, mode } : batch));
  } else if (kind === 'Unit') {
    const isOther = (unit: OverviewUnit): boolean => unit.name === name && (unit.state !== state || unit.mode !== mode);
    if (units.peek().some(isOther)) units.value = units.peek().map((unit) => (isOther(unit) ? { ...unit, state, mode } : unit));
  } else {
    noteElement(frame);
  }
  if (replay) return;
  if (showing.peek()) hasNews = true;
  else {
    readUnitsSoon();
    readPromptsSoon();
  }
  if (batchRef) batchTouched.value = { batch: batchRef, count: batchTouched.peek().count + 1 };
}
