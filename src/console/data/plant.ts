/**
 * What the HMI knows of one site: read by REST, kept up by the stream, read again after a gap. Tag values are one signal
 * each, so that a value that moves redraws its own text and nothing else.
 */
import { computed, type Signal, signal } from '@preact/signals';
import { get, getAll, getList, type ListPage } from './api.js';
import { noteBoxTime } from './box-clock.js';
import { type KeyTags, keyTagsOf, patternsOf } from './key-tags.js';
import { Latest } from './latest.js';
import type { ChannelName } from '../../platform/stream/channel.js';
import { LiveStream, type Subscription } from './live-stream.js';
import { accessToken, can, endSession, onNewToken, renew } from './session.js';
import { coalesced, everySecond } from './timers.js';
import type {
  Alarm,
  AlarmDefinition,
  BatchItem,
  Frame,
  IoModule,
  ModuleInfo,
  OverviewUnit,
  PhaseAtWork,
  Prompt,
  Site,
  SiteOverview,
  StateFrame,
  TagDescriptor,
  TagFrame,
  TagValue,
  UnitInfo,
} from './types.js';
import { isFinal, isResting } from './states.js';

const BACKGROUND = { background: true };
const SITE_KEY = 'lineside.site';
const UNKNOWN: TagValue = { value: null, quality: '' };
/** Of the list of phases at work, which is read each second. */
const PHASES_PAGE = 500;
/** Over which the panels of a site ask for its lists after an apply. */
const MODEL_SPREAD_MS = 500;
/** Of the lists that are as long as the plant is large. */
const LIST_PAGE = 500;
/** So long a first read waits for the stream: from its answer on nothing is left out, and nothing need be read again. */
const STREAM_MS_MAX = 1000;

/** What the panel always shows, and the records and data console only in some of its views: there it is read from the first look on. */
type Part = 'plant' | 'batches' | 'prompts' | 'alarms';
const looked = new Set<Part>();
let isPanel = true;

function reads(part: Part): boolean {
  return isPanel || looked.has(part);
}

/** Of a signal: the first who looks at it has it read. */
function whenLooked(part: Part, read: () => void): { watched(): void } {
  return {
    watched: () => {
      if (reads(part)) return;
      looked.add(part);
      if (!begun) return; // it is read with the others
      stream.subscribe(subscriptions());
      read();
    },
  };
}
const ofPlant = whenLooked('plant', () => {
  model = UNREAD;
  void readOverview();
});
const ofBatches = whenLooked('batches', () => void readBatches());

export const sites = signal<readonly string[]>([]);
export const site = signal('');
export const units = signal<readonly OverviewUnit[]>([]);
export const unitInfo = signal<ReadonlyMap<string, UnitInfo>>(new Map(), ofPlant);
export const keyTags = signal<ReadonlyMap<string, KeyTags>>(new Map());
/** All tags and control modules of the site, as engineering describes them. */
export const tagList = signal<readonly TagDescriptor[]>([], ofPlant);
export const modules = signal<ReadonlyMap<string, ModuleInfo>>(new Map(), ofPlant);
/** What matters now: the first page of the batches of the site, open ones first. The others are searched for. */
export const batches = signal<readonly BatchItem[]>([], ofBatches);
/** How many there are, and the address of the next page. */
export const batchCount = signal(0);
export const batchesNext = signal('');
export const prompts = signal<readonly Prompt[]>(
  [],
  whenLooked('prompts', () => void readPrompts()),
);
export const alarms = signal<readonly Alarm[]>(
  [],
  whenLooked('alarms', () => void readAlarms()),
);
/** What raises them; limits of values stand in them. Read when somebody has engineered; which of them are armed is told by the overview. */
export const definitions = signal<readonly AlarmDefinition[]>([]);
/** Phases under way, by name. */
export const phases = signal<ReadonlyMap<string, PhaseAtWork>>(new Map());
/** Link between gateway and unit runtimes (decisions Q-STREAM-03). */
export const brokerConnected = signal(true);
/** The first complete picture of the site is there. */
export const ready = signal(false);
/** Why what is shown may be old: the refusal of a read whose later attempts have failed too. */
export const readFault = signal<unknown>(undefined);
/** Counts losses of frames on an open connection, so that curves read what they missed. */
export const missed = signal(0);
/** Counts changes of the batch that the detail view shows, so that it reads again. */
export const batchTouched = signal<{ readonly batch: string; readonly count: number }>({ batch: '', count: 0 });

const values = new Map<string, Signal<TagValue>>();
/** Elements under way as the states channel tells them: `kind/name`. */
const elements = new Map<string, Pick<StateFrame, 'kind' | 'state' | 'batchRef'>>();

export const stream = new LiveStream({
  token: accessToken,
  onFrame: receive,
  onMissed: (isNew) => {
    if (begun) readAgain(); // else the first read comes after this
    if (!isNew) curvesMissed(); // on a new connection they read again by themselves
  },
  onOpened: () => {
    forgetValues();
    forgetFaults(); // everything is read again now
  },
  onSessionEnded: (reason) => endSession(reason),
  onRefused: () => void renew().catch(() => undefined),
});
onNewToken((token) => stream.authenticate(token));

export const stale = computed(() => stream.liveness.value !== 'live' || !brokerConnected.value);

export function tagValue(unit: string, address: string): Signal<TagValue> {
  const key = `${unit} ${address}`;
  let value = values.get(key);
  if (!value) values.set(key, (value = signal(UNKNOWN)));
  return value;
}

/** @param asked the site that is shown, where there is such a one. @param onPanel everything is read and kept up; else what is looked at. */
export async function startPlant(asked: string, onPanel: boolean): Promise<void> {
  isPanel = onPanel;
  stream.start();
  await findSite(asked);
  everySecond(() => readOften());
}

/** The site that is asked for, the one shown last on this panel, else the first. */
async function findSite(asked: string): Promise<void> {
  const found = await askSites();
  sites.value = found.map(({ name }) => name);
  const last = localStorage.getItem(SITE_KEY) ?? '';
  await showSite([asked, last].find((name) => sites.value.includes(name)) ?? sites.value[0] ?? '');
}

let showing = false;
let shows = 0;
/** The first read is under way: what the stream misses from now on is read again. */
let begun = false;
/** Something has changed while the site was read. */
let hasNews = false;

export async function showSite(name: string): Promise<void> {
  site.value = name;
  ready.value = name === ''; // a box without a plant shows that it has none
  values.clear();
  elements.clear();
  phases.value = new Map();
  for (const each of [engineering, ...readers]) each.forget();
  touched = undefined;
  model = undefined;
  told = undefined;
  keyTags.value = new Map();
  silent.value = [];
  forgetFaults();
  if (name === '') return;
  localStorage.setItem(SITE_KEY, name);
  showing = true;
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
    if (own === shows) showing = false;
  }
  readTouchedSoon();
  if (hasNews) readBatchesSoon();
  if (hasNews) readPromptsSoon();
  if (hasNews || (told !== undefined && told !== model)) readUnitsSoon();
}

/** Address of a route of the site that is shown. */
export function atSite(path: string): string {
  return `/api/v1/sites/${encodeURIComponent(site.peek())}/${path}`;
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
  const ofTiles = (isPanel ? patternsOf(keyTags.peek().values()) : []).map(
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
    const kept = tileAddresses();
    for (const [key, value] of values) if (!kept.has(key)) value.value = UNKNOWN;
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

/** A new connection: nothing is known until its snapshot tells it, so that no old value is shown as a live one. */
function forgetValues(): void {
  for (const value of values.values()) value.value = UNKNOWN;
}

type TagListener = (frame: TagFrame) => void;
const tagListeners = new Set<TagListener>();

/** Every tag frame with its own time, for curves. @returns ends it. */
export function onTag(listener: TagListener): () => void {
  tagListeners.add(listener);
  return () => tagListeners.delete(listener);
}

const readers = new Set<Latest>();
const faults = new Map<Latest, unknown>();

function forgetFaults(): void {
  faults.clear();
  readFault.value = undefined;
}

/** One part of the site, read again and again: the last answer counts, and a refusal stands until the part is read. */
function reader<T>(ask: () => Promise<T>, take: (found: T) => void, part?: Part): () => Promise<void> {
  const latest = new Latest();
  readers.add(latest);
  return async () => {
    if (part !== undefined && !reads(part)) return;
    try {
      if (await latest.read(ask, take)) faults.delete(latest);
    } catch (fault) {
      faults.set(latest, fault);
    }
    readFault.value = [...faults.values()][0];
  };
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

async function readAll(): Promise<void> {
  if (site.peek() === '') return;
  await Promise.all([readOverview(), readBatches(), readPrompts(), readAlarms(), readOutputs()]);
}

async function askOverview(): Promise<SiteOverview> {
  const askedAtMs = Date.now();
  const overview = await get<SiteOverview>(atSite('overview'), BACKGROUND);
  noteBoxTime(overview.asOf, askedAtMs);
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

/** A phase that began while frames were missed is told by no later frame until it ends; the overview knows it. */
function noteActiveWork(found: readonly OverviewUnit[]): void {
  let news = false;
  for (const { activeWork } of found) {
    if (activeWork?.kind !== 'Phase' || elements.has(`Phase/${activeWork.name}`)) continue;
    elements.set(`Phase/${activeWork.name}`, activeWork);
    news = true;
  }
  if (news) readPhasesSoon();
}

/** Of the list of batches; a panel shows a dozen. */
const BATCHES_PAGE = 60;

export type BatchSet = 'all' | 'open' | 'ended';
const STATES_OF: Readonly<Record<BatchSet, string>> = {
  all: '',
  open: 'Pending,Running,Pausing,Paused,Holding,Held,Restarting,Stopping,Aborting',
  ended: 'Complete,Stopped,Aborted,Failed',
};

/** The gateway searches, filters, sorts and counts. @param next address of a further page; empty for the first. */
export function findBatches(search: string, set: BatchSet, next = ''): Promise<ListPage<BatchItem>> {
  const query = new URLSearchParams({ order: 'recent', limit: String(BATCHES_PAGE) });
  for (const [name, value] of Object.entries({ search: search.trim(), state: STATES_OF[set] })) if (value !== '') query.set(name, value);
  return getList<BatchItem>(next === '' ? atSite(`batches?${query}`) : next, BACKGROUND);
}

const readBatches = reader(
  () => findBatches('', 'all'),
  ({ items, next, total }) => {
    batches.value = items;
    batchCount.value = total;
    batchesNext.value = next;
  },
  'batches',
);

/** The routes of prompts and alarms are asked for only when the gateway lists their action. */
const readPrompts = reader(
  async () => (can('phase:list-prompts') ? getAll<Prompt>(atSite(`prompts?limit=${LIST_PAGE}`), BACKGROUND) : []),
  (found) => {
    if (JSON.stringify(found.map(({ id }) => id)) !== JSON.stringify(prompts.peek().map(({ id }) => id))) prompts.value = found;
  },
  'prompts',
);

const ALARMS_PAGE = 1000;
/** More are read whole: their names would make a longer question than the list is an answer. */
const ALARMS_TOUCHED_MAX = 50;
/** Alarms that a frame has told of since they were read; undefined while all of them are to be read. */
let touched: Set<string> | undefined;
let readsWhole = 0;

/** Whole after a loss, else those that have changed: each transition in a flood read the whole list on every panel. */
const readAlarmsNow = reader(
  async () => {
    if (!can('alarm:list')) return { all: [] };
    const names = touched !== undefined && readsWhole === 0 && touched.size <= ALARMS_TOUCHED_MAX ? [...touched] : undefined;
    touched = new Set();
    try {
      if (names?.length === 0) return { names, found: [] };
      if (names) return { names, found: await getAll<Alarm>(atSite(`alarms?limit=${ALARMS_PAGE}&name=${names.map(encodeURIComponent).join(',')}`), BACKGROUND) };
      readsWhole += 1;
      return { all: await getAll<Alarm>(atSite(`alarms?limit=${ALARMS_PAGE}`), BACKGROUND).finally(() => (readsWhole -= 1)) };
    } catch (fault) {
      touched = undefined; // what has changed is not known any more
      throw fault;
    }
  },
  ({ all, names, found }) => {
    if (all) alarms.value = all;
    else if (names && names.length > 0) alarms.value = [...alarms.peek().filter(({ name }) => !names.includes(name)), ...(found ?? [])];
  },
  'alarms',
);

function readAlarms(): Promise<void> {
  touched = undefined;
  return readAlarmsNow();
}

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

export const readBatchesSoon = coalesced(120, () => readBatches());
/** Who acknowledges one looks at it; in a flood they come together. */
const readTouchedSoon = coalesced(120, () => readAlarmsNow(), 10);

/** Something has happened to an alarm. */
export function readAlarmSoon(name: string): void {
  touched?.add(name);
  if (!showing) readTouchedSoon();
}

export const readPromptsSoon = coalesced(50, () => readPrompts());
const readPhasesSoon = coalesced(80, () => readPhases());

/** Real devices whose outputs this box does not write (D-C-06). */
export const silent = signal<readonly IoModule[]>([]);

const readOutputs = reader(
  async () => (can('iomodule:list') ? getAll<IoModule>(atSite('iomodules?limit=100'), BACKGROUND) : []),
  (found) => {
    const next = found.filter(({ simulated, outputs }) => !simulated && outputs !== undefined && outputs.state !== 'live');
    if (JSON.stringify(next.map(({ name, outputs }) => [name, outputs])) !== JSON.stringify(silent.peek().map(({ name, outputs }) => [name, outputs]))) silent.value = next;
  },
);

/** The list is as long as all channels of the site, and changes when somebody engineers or another box takes over. */
const OUTPUTS_EVERY_S = 15;

/** Modes, health and bypasses of modules: a bypass that another panel has set must not stay unseen on this one. */
const MODULES_EVERY_S = 5;
let seconds = 0;

/** What no channel tells: steps of phases, prompts, and what people set at modules. */
async function readOften(): Promise<void> {
  if (document.hidden || showing) return;
  if (!ready.peek()) return showSite(site.peek()).catch(() => undefined); // the box was away while another site was chosen
  seconds += 1;
  if (site.peek() !== '' && seconds % MODULES_EVERY_S === 0) await readModules();
  if (site.peek() !== '' && seconds % OUTPUTS_EVERY_S === 0) await readOutputs();
  if (site.peek() === '') await readSites();
  else await Promise.all([readPrompts(), isPanel ? readPhases() : undefined]);
}

/** A box without a plant is asked until it has one. */
const readSites = reader(
  () => findSite(''),
  () => undefined,
);

const readPhases = reader(
  async () => {
    const anyAtWork = [...elements.values()].some(({ kind, state }) => kind === 'Phase' && !isResting(state));
    return anyAtWork ? getAll<PhaseAtWork>(atSite(`phases?atWork=true&limit=${PHASES_PAGE}`), BACKGROUND) : [];
  },
  (found) => {
    const running = found.filter(({ state }) => !isResting(state));
    if (running.length > 0 || phases.peek().size > 0) phases.value = new Map(running.map((phase) => [phase.name, phase]));
  },
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
  if (!showing && revision !== model) window.setTimeout(readUnitsSoon, Math.random() * MODEL_SPREAD_MS);
}

function receiveTag(frame: TagFrame): void {
  const { unit, address, value, quality } = frame;
  for (const listener of tagListeners) listener(frame);
  const held = tagValue(unit, address);
  const before = held.peek();
  if (before.value !== value || before.quality !== quality) held.value = { value, quality };
}

function receiveState(frame: StateFrame, replay: boolean): void {
  const { kind, name, state, mode, batchRef } = frame;
  if (kind === 'Batch') {
    if (isFinal(state)) forgetElementsOf(name);
    if (!replay && !showing) readBatchesSoon();
    const isOther = (batch: BatchItem): boolean => batch.name === name && (batch.phase !== state || batch.mode !== mode);
    if (batches.peek().some(isOther)) batches.value = batches.peek().map((batch) => (isOther(batch) ? { ...batch, phase: state, mode } : batch));
  } else if (kind === 'Unit') {
    const isOther = (unit: OverviewUnit): boolean => unit.name === name && (unit.state !== state || unit.mode !== mode);
    if (units.peek().some(isOther)) units.value = units.peek().map((unit) => (isOther(unit) ? { ...unit, state, mode } : unit));
  } else {
    elements.set(`${kind}/${name}`, frame);
    if (kind === 'Phase') readPhasesSoon();
  }
  if (replay) return;
  if (showing) hasNews = true;
  else {
    readUnitsSoon();
    readPromptsSoon();
  }
  if (batchRef) batchTouched.value = { batch: batchRef, count: batchTouched.peek().count + 1 };
}

function forgetElementsOf(batch: string): void {
  for (const [key, { batchRef }] of elements) if (batchRef === batch) elements.delete(key);
}
