/**
 * The stream of one page, held in the page: frames are lost, kept back and put in where they arrive. A stream that is led through the test
 * library costs the processor several milliseconds a frame; a plant tells more than a hundred in a second, and a busy machine never catches up.
 */
import type { Page } from 'playwright-core';

export interface Wire {
  /** A pulled cable: from now on frames are lost, or come again. */
  lose(are: boolean): Promise<void>;
  /** From now on the plant tells nothing but frames of this type; the page does not miss the others. */
  only(type: string): Promise<void>;
  /** The plant tells nothing more. */
  hush(): Promise<void>;
  /** It tells everything again. */
  tellAll(): Promise<void>;
  /** A frame as if the box had sent it next. @returns its `seq`. */
  send(frame: object): Promise<number>;
  /** A frame that the page never gets. */
  skip(): Promise<void>;
  /** The connection breaks, the page makes another one and hears everything from then on. */
  reconnect(): Promise<void>;
  /** The last frame with a value of this address. */
  told(address: string): Promise<object>;
}

/** Each frame gets a number of ours, which counts on over those that were put in. Whatever the page listens with comes behind this listener. */
const WIRE = `(() => {
  const wire = (window.wire = { seq: 0, loses: false, isTold: () => true, told: {}, socket: undefined, give });
  const ours = new WeakSet();
  function give(frame) {
    const event = new MessageEvent('message', { data: JSON.stringify({ ...frame, seq: (wire.seq += 1) }) });
    ours.add(event);
    wire.socket.dispatchEvent(event);
    return wire.seq;
  }
  window.WebSocket = class extends WebSocket {
    constructor(...address) {
      super(...address);
      wire.socket = this;
      wire.seq = 0;
      this.addEventListener('message', (event) => {
        if (ours.has(event)) return;
        event.stopImmediatePropagation();
        const frame = JSON.parse(event.data);
        if (!wire.isTold(frame)) return;
        if (wire.loses) return void (wire.seq += 1);
        if (frame.address) wire.told[frame.address] = frame;
        give(frame);
      });
    }
  };
})()`;

/** Takes the wire of a page that has not opened the panel yet. */
export async function wireOf(page: Page): Promise<Wire> {
  await page.addInitScript(WIRE);
  const held = (step: string): Promise<unknown> => page.evaluate(`{ const { wire } = window; ${step} }`);
  return {
    lose: async (are) => void (await held(`wire.loses = ${are}`)),
    only: async (type) => void (await held(`wire.isTold = ({ type }) => type === ${JSON.stringify(type)}`)),
    hush: async () => void (await held('wire.isTold = () => false')),
    tellAll: async () => void (await held('wire.isTold = () => true')),
    send: async (frame) => (await held(`wire.give(${JSON.stringify(frame)})`)) as number,
    skip: async () => void (await held('wire.seq += 1')),
    reconnect: async () => void (await held('wire.loses = false; wire.socket.close();')),
    told: async (address) => (await held(`wire.told[${JSON.stringify(address)}]`)) as object,
  };
}
