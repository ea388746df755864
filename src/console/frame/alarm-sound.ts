/**
 * The horn of a panel: it sounds while there is an alarm that nobody has acknowledged and nobody here has silenced, and again with each new one
 * (ISA-18.2, annunciation). Whether a panel has a horn is chosen at the panel. A browser sounds nothing before the first touch of the page.
 */
import { computed, effect, signal } from '@preact/signals';
import { alarms, stale } from '../data/plant.js';
import type { Alarm } from '../data/types.js';
import { keepHere, keptHere } from '../common/kept-here.js';
import { annunciated, isUnacknowledged } from '../plant/alarm.js';

const KEY = 'lineside.horn';
const AGAIN_MS = 2000;
const TONE_S = 0.18;
/** Told apart by pitch and by how many tones there are. */
const TONES: Readonly<Record<Alarm['severity'], readonly number[]>> = { Critical: [988, 784, 988], High: [784, 659], Medium: [659], Low: [523] };

export const isHornOn = signal(keptHere(KEY) === 'on');
/** The browser waits for a touch. */
export const waitsForTouch = signal(false);
/** Alarms whose horn somebody has silenced here, with the time at which they came. */
const silenced = signal<ReadonlySet<string>>(new Set());

const keyOf = ({ name, activatedAt }: Alarm): string => `${name} ${activatedAt}`;

const calling = computed(() => annunciated(alarms.value).filter((alarm) => isUnacknowledged(alarm)));

/** What sounds now; undefined while nothing does. */
export const sounding = computed(() => (isHornOn.value && !stale.value ? calling.value.find((alarm) => !silenced.value.has(keyOf(alarm))) : undefined));

export function silence(): void {
  silenced.value = new Set(calling.peek().map(keyOf));
}

export function setHorn(isOn: boolean): void {
  isHornOn.value = isOn;
  keepHere(KEY, isOn ? 'on' : 'off');
  if (isOn) wake();
}

let context: AudioContext | undefined;

function wake(): void {
  context ??= new AudioContext();
  const opened = context;
  const note = (): void => {
    waitsForTouch.value = opened.state === 'suspended';
  };
  opened.onstatechange = note;
  note();
  if (opened.state === 'suspended') opened.resume().then(note, note); // answered only after a touch
}

function sound({ severity }: Alarm): void {
  wake();
  if (context?.state !== 'running') return;
  const { destination, currentTime } = context;
  TONES[severity].forEach((pitchHz, at) => {
    if (!context) return;
    const tone = context.createOscillator();
    const volume = context.createGain();
    tone.frequency.value = pitchHz;
    const from = currentTime + at * TONE_S * 1.4;
    volume.gain.setValueAtTime(0, from);
    volume.gain.linearRampToValueAtTime(0.4, from + 0.01);
    volume.gain.setValueAtTime(0.4, from + TONE_S - 0.02);
    volume.gain.linearRampToValueAtTime(0, from + TONE_S);
    tone.connect(volume).connect(destination);
    tone.start(from);
    tone.stop(from + TONE_S);
  });
}

/** For as long as the page is open. */
export function startHorn(): void {
  document.addEventListener('pointerdown', () => isHornOn.peek() && wake());
  document.addEventListener('keydown', () => isHornOn.peek() && wake());
  let timer = 0;
  effect(() => {
    const alarm = sounding.value;
    clearInterval(timer);
    if (!alarm) return;
    sound(alarm);
    timer = window.setInterval(() => sound(alarm), AGAIN_MS);
  });
}
