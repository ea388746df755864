/** How a Modbus request reaches its device, over TCP or a serial line. A PDU is function code and data, no framing. `isMalformed`: lost because of what came. */
import type { Exchange } from '../device-answers.js';

export type Reply =
  | { readonly ok: true; readonly pdu: Buffer }
  | { readonly ok: false; readonly reason: 'silent' | 'lost'; readonly message: string; readonly isMalformed?: boolean };

export interface Transport {
  /** One request in flight per unit; urgent ones (writes) go before waiting ones. */
  request(unit: number, pdu: Buffer, urgent: boolean): Promise<Reply>;
  /** Where requests wait for each other: how long one that comes now may take until it is answered. */
  readonly patienceMs?: number;
  /** The bytes of the last request that got its answer, or none in its time. */
  readonly lastExchange: Exchange | undefined;
  readonly lost: Promise<string>;
  close(): void;
}

export const FUNCTION = {
  readCoils: 1,
  readDiscreteInputs: 2,
  readHoldingRegisters: 3,
  readInputRegisters: 4,
  writeSingleCoil: 5,
  writeSingleRegister: 6,
  writeMultipleCoils: 15,
  writeMultipleRegisters: 16,
  reportServerId: 17,
  maskWriteRegister: 22,
  readDeviceIdentification: 43,
} as const;

export const EXCEPTION_FLAG = 0x80;

/** Modbus Application Protocol V1.1b3, section 7. */
export const EXCEPTION_TEXTS: Readonly<Record<number, string>> = {
  1: 'illegal function',
  2: 'illegal data address',
  3: 'illegal data value',
  4: 'device failure',
  5: 'acknowledged, not finished',
  6: 'device busy',
  8: 'memory parity error',
  10: 'gateway path unavailable',
  11: 'gateway target did not respond',
};

export function exceptionText(code: number): string {
  return `${EXCEPTION_TEXTS[code] ?? 'unknown exception'} (exception ${code})`;
}
