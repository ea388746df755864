/**
 * Reads the channels of devices that a simulated plant rests on, out of the process images of their modules (ADR 0069): inputs as the probe has
 * sampled them, outputs as they were commanded and taken. Judged as the scan judges them; what is not known is told as such.
 */
import type { ImagePlan } from '../../port.js';
import type { MonoMs } from '../../vocabulary/times.js';
import { CONNECTION, IMAGE_HEADER, type LatchedInputs, ProcessImage, staleAfterOf, WRITE_STATUS } from '../../vocabulary/process-image.js';
import { QUALITY } from '../../vocabulary/quality.js';
import type { Coupling, ForeignModule } from './coupling.js';

interface ReadDevice {
  readonly plan: ImagePlan;
  readonly image: ProcessImage;
  readonly view: LatchedInputs;
  /** Slot in the plant of each channel; -1 of those that nothing can read. */
  readonly slots: readonly number[];
}

/** A text is no number that a behaviour could reckon with. */
const hasNumber = ({ dataType }: ImagePlan['channels'][number]): boolean => dataType !== 'string';

export function foreignModules(plans: readonly ImagePlan[]): readonly ForeignModule[] {
  return plans.map(({ module, channels }) => ({ name: module, channels: channels.filter(hasNumber) }));
}

export class DeviceReader {
  #devices: readonly ReadDevice[] = [];

  /** After each configuration of the plant, whose slots are others then. */
  bind(plans: readonly ImagePlan[], coupling: Coupling): void {
    this.#devices = plans.map((plan) => {
      const { length } = plan.channels;
      const view = {
        value: new Float64Array(length),
        sampledAtMs: new Float64Array(length),
        sampledMonoMs: new Float64Array(length),
        quality: new Uint8Array(length).fill(QUALITY.Bad),
      };
      const slots = plan.channels.map(({ address }) => coupling.slot(plan.module, address) ?? -1);
      return { plan, image: new ProcessImage(length, plan.buffer), view, slots };
    });
  }

  /** Before each tick. */
  read(coupling: Coupling, nowMonoMs: MonoMs): void {
    for (const device of this.#devices) this.#readOne(device, coupling, nowMonoMs);
  }

  #readOne({ plan, image, view, slots }: ReadDevice, coupling: Coupling, nowMonoMs: MonoMs): void {
    const staleAfterMs = staleAfterOf(image.header, plan.staleAfterMs);
    const isConnected = Atomics.load(image.header, IMAGE_HEADER.connection) === CONNECTION.connected && Atomics.load(image.header, IMAGE_HEADER.silent) === 0;
    image.latch(view); // should the probe be inside at every attempt, the last copy stands
    for (let channel = 0; channel < slots.length; channel += 1) {
      const slot = slots[channel] as number;
      if (slot < 0) continue;
      const isInput = plan.channels[channel]?.direction === 'input';
      const value = (isInput ? view.value[channel] : image.out[channel]) as number;
      const isKnown = isConnected && Number.isFinite(value) && (isInput ? isSampled(view, channel, staleAfterMs, nowMonoMs) : isTaken(image, channel));
      coupling.tell(slot, value, isKnown);
    }
  }
}

/** Good or Uncertain, and not twice as old as its module allows (decisions 7.2). */
function isSampled({ quality, sampledAtMs, sampledMonoMs }: LatchedInputs, channel: number, staleAfterMs: number, nowMonoMs: MonoMs): boolean {
  if (sampledAtMs[channel] === 0 || (quality[channel] as number) > QUALITY.Uncertain) return false;
  return staleAfterMs === 0 || nowMonoMs - (sampledMonoMs[channel] as number) <= 2 * staleAfterMs;
}

/** Commanded, and the device has taken it: what was refused says nothing of where the device stands. */
function isTaken(image: ProcessImage, channel: number): boolean {
  const sequence = Atomics.load(image.outSeq, channel);
  return sequence !== 0 && Atomics.load(image.outDone, channel) !== 0 && image.outStatus[channel] !== WRITE_STATUS.failed;
}
