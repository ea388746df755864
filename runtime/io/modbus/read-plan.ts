/** The requests that read a set of points: one list of blocks per unit, coalesced by table (decisions 7.3). */
import { inside } from '../../vocabulary/assert.js';
import type { Point } from '../driver.js';
import { coalesce } from '../request-plan.js';
import { isBitTable, MODBUS_TABLES, type ModbusAddress, type ModbusTable, parseModbusAddress } from './address.js';
import { FUNCTION } from './transport.js';

export interface ReadBlock {
  readonly table: ModbusTable;
  readonly start: number;
  readonly length: number;
  readonly members: readonly { readonly position: number; readonly address: ModbusAddress }[];
  readonly pdu: Buffer;
}

export interface ReadPlan {
  readonly units: readonly { readonly unit: number; readonly blocks: ReadBlock[] }[];
  /** Points whose address does not read; they are delivered as bad. */
  readonly unreadable: readonly { readonly position: number; readonly message: string }[];
}

export interface PlanLimits {
  readonly unitId: number;
  readonly maxRegisters: number;
  readonly maxBits: number;
  readonly maxGap: number;
}

const READ_FUNCTIONS: Readonly<Record<ModbusTable, number>> = {
  coil: FUNCTION.readCoils,
  discrete: FUNCTION.readDiscreteInputs,
  holding: FUNCTION.readHoldingRegisters,
  input: FUNCTION.readInputRegisters,
};

export function readPdu(table: ModbusTable, start: number, length: number): Buffer {
  const pdu = Buffer.allocUnsafe(5);
  pdu[0] = READ_FUNCTIONS[table];
  pdu.writeUInt16BE(start, 1);
  pdu.writeUInt16BE(length, 3);
  return pdu;
}

type Member = ReadBlock['members'][number];

function blocksOf(table: ModbusTable, members: readonly Member[], limits: PlanLimits): ReadBlock[] {
  const spans = members.map(({ address }, position) => ({ start: address.offset, length: address.length, position }));
  const most = isBitTable(table) ? limits.maxBits : limits.maxRegisters;
  return coalesce(spans, most, limits.maxGap).map(({ start, length, spans: within }) => ({
    table,
    start,
    length,
    members: within.map((span) => inside(members, span.position, 'a block has spans of the members it was made from')),
    pdu: readPdu(table, start, length),
  }));
}

/** A block that the device refused, as one block per member: a hole in the middle must not cost its neighbours. */
export function splitBlock(block: ReadBlock): ReadBlock[] {
  return block.members.map((member) => ({
    table: block.table,
    start: member.address.offset,
    length: member.address.length,
    members: [member],
    pdu: readPdu(block.table, member.address.offset, member.address.length),
  }));
}

export function planReads(points: readonly Point[], limits: PlanLimits): ReadPlan {
  const unreadable: { position: number; message: string }[] = [];
  const byUnit = new Map<number, Member[]>();
  points.forEach((point, position) => {
    const parsed = parseModbusAddress(point.address);
    if (!parsed.ok) {
      unreadable.push({ position, message: parsed.message });
      return;
    }
    const unit = parsed.value.unit ?? limits.unitId;
    byUnit.set(unit, [...(byUnit.get(unit) ?? []), { position, address: parsed.value }]);
  });
  const units = [...byUnit].map(([unit, members]) => ({
    unit,
    blocks: MODBUS_TABLES.flatMap((table) =>
      blocksOf(
        table,
        members.filter(({ address }) => address.table === table),
        limits,
      ),
    ),
  }));
  return { units, unreadable };
}
