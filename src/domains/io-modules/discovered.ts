/** What a discovery says of a module as it is configured (decisions Q-IO-03, 7.7). Pure. */
import { createHash } from 'node:crypto';
import type { Discovery } from '../../../runtime/port.js';
import { channelsOf } from './channels.js';
import type { ChannelType, IOModuleSpec, IOModuleStatus } from './kind.js';
import { assetKey } from './rules.js';

/** What a discovery rests on: with another device or other channels it says nothing any more. */
export function discoveredFor(spec: IOModuleSpec): string {
  const channels = channelsOf(spec).map(({ address, readbackAddress, dataType }) => [address, readbackAddress, dataType]);
  return createHash('sha256')
    .update(JSON.stringify([assetKey(spec), channels]))
    .digest('hex')
    .slice(0, 16);
}

export interface JudgedChannel {
  readonly channel: string;
  readonly address: string;
  /** Where it is not the configured one. */
  readonly discoveredReadbackAddress?: string;
  readonly dataType?: ChannelType;
  readonly writable?: boolean;
  /** Why it was not found as it is configured; absent: it was. */
  readonly error?: string;
}

interface Judged extends Pick<IOModuleStatus, 'validated' | 'discoveredReadbacks'> {
  readonly channels: JudgedChannel[];
}

/** Whether every channel and readback is as configured, channel by channel (decisions Q-IO-03). */
export function judged(spec: IOModuleSpec, { channels: told }: Discovery): Judged {
  const byAddress = new Map(told.map((row) => [row.address, row]));
  const readbacks: Record<string, string> = {};
  const channels = channelsOf(spec).map(({ name, address, dataType, readbackAddress }): JudgedChannel => {
    const row = byAddress.get(address);
    const other = row?.readbackAddress;
    if (other !== undefined && other !== readbackAddress) readbacks[address] = other;
    const isOtherType = row?.dataType !== undefined && row.dataType !== dataType;
    const error = row === undefined ? 'the device said nothing of it' : row.message || (isOtherType ? `the device has it as ${row.dataType}, it is configured as ${dataType}` : '');
    return {
      channel: name,
      address,
      ...(readbacks[address] === undefined ? {} : { discoveredReadbackAddress: readbacks[address] }),
      ...(row?.dataType === undefined ? {} : { dataType: row.dataType }),
      ...(row?.isWritable === undefined ? {} : { writable: row.isWritable }),
      ...(error === '' ? {} : { error }),
    };
  });
  const isAsConfigured = channels.every(({ error, discoveredReadbackAddress }) => error === undefined && discoveredReadbackAddress === undefined);
  return { channels, discoveredReadbacks: readbacks, validated: isAsConfigured };
}
