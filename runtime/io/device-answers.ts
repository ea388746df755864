/** What a device says beside its values: what it is and has (decisions Q-TIER-11), and the bytes of the wire. */
import type { ChannelType } from './description.js';

/** Each '' where the device does not say. */
export interface DeviceIdentity {
  readonly vendor: string;
  readonly product: string;
  readonly revision: string;
  readonly serial: string;
}

export const NO_IDENTITY: DeviceIdentity = { vendor: '', product: '', revision: '', serial: '' };

/** A channel as it is configured, and what the device says to it. */
export interface DiscoveredChannel {
  /** Its name. */
  readonly channel: string;
  readonly address: string;
  readonly isFound: boolean;
  /** As the device says; absent where it does not. */
  readonly dataType?: ChannelType;
  readonly isWritable?: boolean;
  /** Why it was not found; empty: it was. */
  readonly message: string;
  /** Where the device says that the output is read back. */
  readonly readbackAddress?: string;
  /** Of the readback that is configured; absent: none is. */
  readonly isReadbackFound?: boolean;
}

/** What the device has and nobody has configured. */
export interface OfferedChannel {
  readonly address: string;
  readonly dataType?: ChannelType;
  readonly isWritable: boolean;
  readonly description: string;
  readonly engUnits?: string;
  readonly engMin?: number;
  readonly engMax?: number;
  readonly readbackAddress?: string;
}

export interface Discovery {
  readonly device: DeviceIdentity;
  /** Of the configured channels, in their order. */
  readonly channels: readonly DiscoveredChannel[];
  readonly offered: readonly OfferedChannel[];
  /** The device offers more than is told here. */
  readonly isTruncated: boolean;
}

/** The bytes of one request and its answer, for whoever looks for a fault of the wire. */
export interface Exchange {
  /** Hexadecimal, two digits a byte, bytes apart. */
  readonly sent: string;
  /** Empty: nothing came within the time-out. */
  readonly received: string;
  /** Wall time at which the request was sent. */
  readonly atMs: number;
  /** Until the answer was whole, or the time-out. */
  readonly roundTripMs: number;
}
