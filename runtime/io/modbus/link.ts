/**
 * A connected Modbus device (decisions 7.2 to 7.4): planned reads that decode straight into the sink, writes one after
 * the other. Repeats an unanswered request `retries` times; an exception reply is an answer and is not repeated.
 */
import { inside } from '../../vocabulary/assert.js';
import type { Value } from '../../vocabulary/data-types.js';
import type { ProbeChannel } from '../../port.js';
import type { Discovery, Exchange } from '../device-answers.js';
import { checkChannels } from '../discovery.js';
import type { BadKind, Barred, Link, Point, ReadOutcome, SampleSink, WriteOutcome } from '../driver.js';
import { WriteTurns } from '../write-turns.js';
import { type ByteOrder, isBitTable, type ModbusAddress, parseModbusChannel } from './address.js';
import { decodeRegisters, encodeRegisters, toBit } from './codec.js';
import { identify } from './identification.js';
import { type PlanLimits, planReads, type ReadBlock, type ReadPlan, readPdu, splitBlock } from './read-plan.js';
import { EXCEPTION_FLAG, exceptionText, FUNCTION, type Reply, type Transport } from './transport.js';

export interface ModbusSettings extends PlanLimits {
  readonly retries: number;
  readonly writeMode: string;
  readonly byteOrder: ByteOrder;
}

const ANSWERED: ReadOutcome = { status: 'answered' };
/** Exceptions that a hole in a coalesced block can cause: illegal address, illegal value. */
const SPLITTING_EXCEPTIONS = new Set([2, 3]);
/** A gateway answers for a device that does not: path unavailable, target did not respond. */
const GATEWAY_EXCEPTIONS = new Set([10, 11]);
const ILLEGAL_FUNCTION = 1;
const CONFIRMED_OTHER = 'the device confirmed something else than was written';

export class ModbusLink implements Link {
  readonly #transport: Transport;
  readonly #settings: ModbusSettings;
  readonly #plans = new WeakMap<readonly Point[], ReadPlan>();
  /** Units whose last request ran out of repetitions: they are asked once until they answer again. */
  readonly #silent = new Set<number>();
  /** Units that do not know function 22. */
  readonly #withoutMask = new Set<number>();
  /** Units that have answered it. */
  readonly #withMask = new Set<number>();
  /** Units that said nothing to it, once. */
  readonly #maskUnheard = new Set<number>();
  readonly #turns = new WriteTurns();

  constructor(transport: Transport, settings: ModbusSettings) {
    this.#transport = transport;
    this.#settings = settings;
  }

  get lost(): Promise<string> {
    return this.#transport.lost;
  }

  async close(): Promise<void> {
    this.#transport.close();
  }

  get patienceMs(): number {
    return this.#transport.patienceMs ?? 0;
  }

  lastExchange(): Exchange | undefined {
    return this.#transport.lastExchange;
  }

  /** Of itself a device says its name at most (function 43 or 17); what registers it has only shows when they are read. */
  async discover(channels: readonly ProbeChannel[]): Promise<Discovery> {
    const found = await checkChannels(this, channels);
    const device = await identify((pdu) => this.#transport.request(this.#settings.unitId, pdu, false));
    return { device, channels: found, offered: [], isTruncated: false };
  }

  lane(point: Point): string {
    return /@(\d+)$/.exec(point.address)?.[1] ?? String(this.#settings.unitId);
  }

  async read(points: readonly Point[], sink: SampleSink): Promise<ReadOutcome> {
    const plan = this.#plan(points);
    if (plan.unreadable.length > 0) {
      sink.begin();
      for (const { position, message } of plan.unreadable) sink.bad(position, message);
      sink.end();
    }
    const outcomes = await Promise.all(plan.units.map(({ unit, blocks }) => this.#readUnit(unit, blocks, sink)));
    return outcomes.find((outcome) => outcome.status === 'lost') ?? outcomes.find((outcome) => outcome.status === 'answered') ?? outcomes[0] ?? ANSWERED;
  }

  #plan(points: readonly Point[]): ReadPlan {
    const known = this.#plans.get(points);
    if (known) return known;
    const plan = planReads(points, this.#settings);
    this.#plans.set(points, plan);
    return plan;
  }

  async #readUnit(unit: number, blocks: ReadBlock[], sink: SampleSink): Promise<ReadOutcome> {
    let answered = false;
    for (let index = 0; index < blocks.length; index += 1) {
      const block = inside(blocks, index, 'only this loop changes the blocks of its unit');
      const reply = await this.#ask(unit, block.pdu, false);
      if (!reply.ok) {
        badBlocks(blocks.slice(index), reply.message, sink, reply.reason);
        if (reply.reason === 'lost') return { status: 'lost', message: reply.message, ...(reply.isMalformed ? { isMalformed: true } : {}) };
        return answered ? ANSWERED : { status: 'silent', message: reply.message };
      }
      const gateway = gatewayText(reply.pdu);
      if (gateway !== '') {
        badBlocks(blocks.slice(index), gateway, sink, 'silent');
        return answered ? ANSWERED : { status: 'silent', message: gateway };
      }
      answered = true;
      if (block.members.length > 1 && SPLITTING_EXCEPTIONS.has(exceptionOf(reply.pdu))) {
        blocks.splice(index, 1, ...splitBlock(block));
        index -= 1;
        continue;
      }
      this.#deliver(block, reply.pdu, sink);
    }
    return ANSWERED;
  }

  #deliver(block: ReadBlock, pdu: Buffer, sink: SampleSink): void {
    const problem = problemOf(block, pdu);
    if (problem !== undefined) {
      badBlocks([block], problem, sink, exceptionOf(pdu) > 0 ? 'refused' : 'malformed');
      return;
    }
    sink.begin();
    for (const { position, address } of block.members) {
      const place = address.offset - block.start;
      if (isBitTable(block.table)) {
        sink.number(position, (pdu.readUInt8(2 + (place >> 3)) >> (place & 7)) & 1);
        continue;
      }
      const value = decodeRegisters(address, pdu, 2 + 2 * place, this.#settings.byteOrder);
      if (typeof value === 'number') {
        if (Number.isFinite(value)) sink.number(position, value);
        else sink.bad(position, 'the device delivers a number that is not finite', 'malformed');
      } else if (typeof value === 'bigint') {
        sink.integer(position, value);
      } else {
        sink.text(position, value);
      }
    }
    sink.end();
  }

  /** One request, repeated while the device stays silent. */
  async #ask(unit: number, pdu: Buffer, urgent: boolean, barred?: Barred): Promise<Reply> {
    const repeats = this.#silent.has(unit) ? 0 : this.#settings.retries;
    let reply = await this.#transport.request(unit, pdu, urgent);
    for (let repeat = 0; repeat < repeats && !reply.ok && reply.reason === 'silent' && !barred?.(); repeat += 1) reply = await this.#transport.request(unit, pdu, urgent);
    if (reply.ok) this.#silent.delete(unit);
    else this.#silent.add(unit);
    return reply;
  }

  write(point: Point, value: Value, barred?: Barred): Promise<WriteOutcome> {
    return this.#turns.take(barred, () => this.#writeNow(point, value, barred));
  }

  async #writeNow(point: Point, value: Value, barred?: Barred): Promise<WriteOutcome> {
    const address = parseModbusChannel(point.address, 'output');
    if (!address.ok) return { ok: false, reason: 'invalid', message: address.message };
    const unit = address.value.unit ?? this.#settings.unitId;
    if (address.value.table === 'coil') return this.#writeCoil(unit, address.value.offset, value, barred);
    if (address.value.type === 'bit') return this.#writeRegisterBit(unit, address.value, value, barred);
    const bytes = encodeRegisters(address.value, value, this.#settings.byteOrder);
    if (!bytes.ok) return { ok: false, reason: 'invalid', message: bytes.message };
    return this.#send(unit, this.#registersPdu(address.value.offset, bytes.value), barred);
  }

  #writeCoil(unit: number, offset: number, value: Value, barred?: Barred): Promise<WriteOutcome> | WriteOutcome {
    const bit = toBit(value);
    if (bit === undefined) return { ok: false, reason: 'invalid', message: `${value} is neither true nor false` };
    const pdu = this.#settings.writeMode === 'multiple' ? Buffer.alloc(7) : Buffer.alloc(5);
    pdu.writeUInt16BE(offset, 1);
    if (pdu.length === 5) {
      pdu[0] = FUNCTION.writeSingleCoil;
      pdu.writeUInt16BE(bit ? 0xff00 : 0, 3);
    } else {
      pdu[0] = FUNCTION.writeMultipleCoils;
      pdu.writeUInt16BE(1, 3);
      pdu[5] = 1;
      pdu[6] = bit ? 1 : 0;
    }
    return this.#send(unit, pdu, barred);
  }

  /**
   * One bit of a holding register (decisions 7.4): by function 22, which leaves the other bits to the device, or where the device does not know it by
   * reading the register, changing the bit and writing it back. Writes of a module never overlap. A device that says nothing to it twice, and has never
   * answered it, does not know it; one lost answer teaches nothing.
   */
  async #writeRegisterBit(unit: number, address: ModbusAddress, value: Value, barred?: Barred): Promise<WriteOutcome> {
    const bit = toBit(value);
    if (bit === undefined) return { ok: false, reason: 'invalid', message: `${value} is neither true nor false` };
    const mask = 1 << address.bit;
    const masked = await this.#maskWrite(unit, address.offset, mask, bit);
    if (masked !== 'not known' && masked !== 'unheard') return masked;
    const reply = await this.#ask(unit, readPdu('holding', address.offset, 1), true);
    if (!reply.ok) return { ok: false, reason: 'unreachable', message: reply.message };
    const exception = exceptionOf(reply.pdu);
    if (exception > 0) return refusedBy(exception);
    if (reply.pdu.length !== 4 || reply.pdu[1] !== 2) return { ok: false, reason: 'refused', message: 'the device sent an answer of the wrong length' };
    const present = reply.pdu.readUInt16BE(2);
    const bytes = Buffer.alloc(2);
    bytes.writeUInt16BE(bit ? present | mask : present & ~mask & 0xffff);
    const stopped = barred?.(); // time has passed since its turn came
    if (stopped) return masked === 'unheard' ? { ...stopped, isUnknown: true } : stopped;
    return this.#send(unit, this.#registersPdu(address.offset, bytes), barred);
  }

  /** `not known`: the device does not know function 22; `unheard`: it may not know it, or have taken it without a word. */
  async #maskWrite(unit: number, offset: number, mask: number, bit: boolean): Promise<WriteOutcome | 'not known' | 'unheard'> {
    if (this.#withoutMask.has(unit) || this.#settings.writeMode === 'multiple') return 'not known';
    const pdu = Buffer.alloc(7);
    pdu[0] = FUNCTION.maskWriteRegister;
    pdu.writeUInt16BE(offset, 1);
    pdu.writeUInt16BE(~mask & 0xffff, 3); // result = (present AND this) OR the next
    pdu.writeUInt16BE(bit ? mask : 0, 5);
    const reply = await this.#transport.request(unit, pdu, true);
    const silence = reply.ok ? gatewayText(reply.pdu) : reply.message;
    if (!reply.ok || silence !== '') {
      if ((!reply.ok && reply.reason === 'lost') || this.#withMask.has(unit)) return { ok: false, reason: 'unreachable', message: silence };
      if (this.#maskUnheard.has(unit)) this.#withoutMask.add(unit);
      this.#maskUnheard.add(unit);
      return 'unheard';
    }
    const exception = exceptionOf(reply.pdu);
    if (exception === ILLEGAL_FUNCTION) {
      this.#withoutMask.add(unit);
      return 'not known';
    }
    this.#withMask.add(unit);
    if (exception > 0) return refusedBy(exception);
    return reply.pdu.equals(pdu) ? { ok: true } : { ok: false, reason: 'refused', message: CONFIRMED_OTHER };
  }

  #registersPdu(offset: number, bytes: Buffer): Buffer {
    if (bytes.length === 2 && this.#settings.writeMode !== 'multiple') {
      const single = Buffer.alloc(5);
      single[0] = FUNCTION.writeSingleRegister;
      single.writeUInt16BE(offset, 1);
      bytes.copy(single, 3);
      return single;
    }
    const multiple = Buffer.alloc(6 + bytes.length);
    multiple[0] = FUNCTION.writeMultipleRegisters;
    multiple.writeUInt16BE(offset, 1);
    multiple.writeUInt16BE(bytes.length / 2, 3);
    multiple[5] = bytes.length;
    bytes.copy(multiple, 6);
    return multiple;
  }

  async #send(unit: number, pdu: Buffer, barred?: Barred): Promise<WriteOutcome> {
    const reply = await this.#ask(unit, pdu, true, barred);
    if (!reply.ok) return { ok: false, reason: 'unreachable', message: reply.message };
    const exception = exceptionOf(reply.pdu);
    if (exception > 0) return refusedBy(exception);
    // Functions 5, 6, 15 and 16 echo address and value, or address and count: the first five bytes of the request.
    if (reply.pdu.length < 5 || pdu.compare(reply.pdu, 0, 5, 0, 5) !== 0) return { ok: false, reason: 'refused', message: CONFIRMED_OTHER };
    return { ok: true };
  }
}

/** Exception code of a reply; 0 when it is none. */
function exceptionOf(pdu: Buffer): number {
  return pdu.readUInt8(0) & EXCEPTION_FLAG ? (pdu[1] ?? 4) : 0;
}

/** What a gateway says for a device that said nothing; '' where the device has answered. */
function gatewayText(pdu: Buffer): string {
  const exception = exceptionOf(pdu);
  return GATEWAY_EXCEPTIONS.has(exception) ? exceptionText(exception) : '';
}

function refusedBy(exception: number): WriteOutcome {
  return { ok: false, reason: GATEWAY_EXCEPTIONS.has(exception) ? 'unreachable' : 'refused', message: exceptionText(exception) };
}

function problemOf(block: ReadBlock, pdu: Buffer): string | undefined {
  const exception = exceptionOf(pdu);
  if (exception > 0) return exceptionText(exception);
  const bytes = isBitTable(block.table) ? Math.ceil(block.length / 8) : block.length * 2;
  return pdu[1] === bytes && pdu.length === bytes + 2 ? undefined : 'the device sent an answer of the wrong length';
}

function badBlocks(blocks: readonly ReadBlock[], message: string, sink: SampleSink, kind: BadKind): void {
  sink.begin();
  for (const block of blocks) {
    for (const { position } of block.members) sink.bad(position, message, kind);
  }
  sink.end();
}
