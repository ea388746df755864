/** Status codes of OPC UA (OPC 10000-4, 7.39; 10000-6, annex A) as people and qualities read them. */
import type { StatusCode } from 'node-opcua-client';

const SEVERITY_MASK = 0xc0000000;
const UNCERTAIN = 0x40000000;

export type Severity = 'Good' | 'Uncertain' | 'Bad';

/** The two highest bits say it; what bits are reserved is Bad. */
export function severityOf({ value }: Pick<StatusCode, 'value'>): Severity {
  const bits = (value & SEVERITY_MASK) >>> 0;
  if (bits === 0) return 'Good';
  return bits === UNCERTAIN ? 'Uncertain' : 'Bad';
}

/** `BadNodeIdUnknown: the node id refers to a node that does not exist`. */
export function statusText({ name, description, value }: Pick<StatusCode, 'name' | 'description' | 'value'>): string {
  const word = name === '' || name === undefined ? `0x${value.toString(16).padStart(8, '0')}` : name;
  return description ? `${word}: ${description.trim().replace(/\.$/, '')}` : word;
}

/** A request that the server, or the way to it, did not carry out. */
export class OpcUaFault extends Error {
  /** `silent`: no answer in time; `lost`: no connection; `refused`: the server said no. */
  readonly reason: 'silent' | 'lost' | 'refused';
  /** Name of the status code, as far as there is one. */
  readonly opcStatus: string;

  constructor(reason: OpcUaFault['reason'], message: string, opcStatus = '') {
    super(message);
    this.reason = reason;
    this.opcStatus = opcStatus;
  }
}

export function refusedWith(status: StatusCode, doing: string): OpcUaFault {
  return new OpcUaFault('refused', `the server refuses ${doing}: ${statusText(status)}`, status.name);
}

export function faultText(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault);
}
