/**
 * Reads the channels of devices that a simulated plant rests on, out of the process images of their modules (ADR 0069): inputs as the probe has
 * sampled them, outputs as the device has confirmed them or reads them back, whoever wrote them. Judged as the scan judges them; what is not known is told as such.
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
      const { direction, hasReadback } = plan.channels[channel] as ImagePlan['channels'][number];
      const value = view.value[channel] as number;
      // what was confirmed of an output stands until the next write or the end of the connection, and is not sampled again
      const isConfirmed = direction === 'output' && !hasReadback;
      const isSaid = isConfirmed ? isTaken(image, view, channel) : isSampled(view, channel, staleAfterMs, nowMonoMs);
      coupling.tell(slot, value, isConnected && Number.isFinite(value) && isSaid);
    }
  }
}

/** Good or Uncertain, and not twice as old as its module allows (decisions 7.2). */
function isSampled(view: LatchedInputs, channel: number, staleAfterMs: number, nowMonoMs: MonoMs): boolean {
  return isUsable(view, channel) && (staleAfterMs === 0 || nowMonoMs - (view.sampledMonoMs[channel] as number) <= 2 * staleAfterMs);
}

/** The device has taken it, from logic or by hand: what was refused says nothing of where the device stands. */
function isTaken(image: ProcessImage, view: LatchedInputs, channel: number): boolean {
  return isUsable(view, channel) && image.outStatus[channel] !== WRITE_STATUS.failed;
}

function isUsable({ quality, sampledAtMs }: LatchedInputs, channel: number): boolean {
  return sampledAtMs[channel] !== 0 && (quality[channel] as number) <= QUALITY.Uncertain;
}
