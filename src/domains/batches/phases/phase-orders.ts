/**
 * Commands on their way to phases. The tree asks for what it wants whenever it settles; this remembers what has been
 * asked and not yet answered, so that asking again sends nothing.
 */
import { type Told, withTold } from '../../../../runtime/vocabulary/told.js';
import type { Command } from '../../../../runtime/vocabulary/states.js';
import type { UnitLink } from '../../placement/runtimes.js';

/** A failure that the phase is to have from now on, beside the command. */
export interface OrderFailure {
  readonly class: 'hold' | 'fail';
  readonly rule: string;
  readonly message: string;
  readonly told?: Told | undefined;
}

interface Order {
  readonly id: number;
  readonly command: Command;
  readonly epoch: number;
  /** What the phase looked like when it refused; the same look is not asked again. */
  refusedAt: string;
}

export class PhaseOrders {
  readonly #orders = new Map<string, Order>();
  #nextId = 1;

  /** `look` changes whenever the phase could judge differently: its state and failure. */
  send(link: UnitLink, phase: string, command: Command, look: string, failure?: OrderFailure): void {
    const key = `${link.site}/${phase}`;
    const known = this.#orders.get(key);
    if (known && known.command === command && known.epoch === link.epoch && (known.refusedAt === '' || known.refusedAt === look)) return;
    const id = this.#nextId++;
    this.#orders.set(key, { id, command, epoch: link.epoch, refusedAt: '' });
    link.send({
      type: 'command',
      id,
      phase,
      command,
      ...(failure ? { failure: { class: failure.class, rule: failure.rule, message: failure.message, ...withTold(failure.told) } } : {}),
    });
  }

  /** Answer of the worker; true when it belongs to the last order of the phase. */
  settle(site: string, phase: string, id: number, accepted: boolean, look: string): boolean {
    const key = `${site}/${phase}`;
    const order = this.#orders.get(key);
    if (!order || order.id !== id) return false;
    if (accepted) this.#orders.delete(key);
    else order.refusedAt = look;
    return true;
  }

  /** Sent to the worker that runs now and not answered; what an earlier worker was sent is gone with it. */
  awaitsAnswer(link: UnitLink, phase: string): boolean {
    const order = this.#orders.get(`${link.site}/${phase}`);
    return order !== undefined && order.epoch === link.epoch && order.refusedAt === '';
  }

  isRefused(link: UnitLink, phase: string, look: string): boolean {
    const order = this.#orders.get(`${link.site}/${phase}`);
    return order !== undefined && order.epoch === link.epoch && order.refusedAt === look;
  }

  forget(site: string, phase: string): void {
    this.#orders.delete(`${site}/${phase}`);
  }
}
