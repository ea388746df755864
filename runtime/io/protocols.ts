/**
 * The field protocols of this build. A driver is one folder, one line here and one in drivers.ts: the word of the API, its
 * schemas, defaults and checks are derived from the description.
 */
import { ethernetIpDescription } from './ethernet-ip/description.js';
import { modbusDescription } from './modbus/description.js';
import { opcuaDescription } from './opcua/description.js';
import { simulationDescription } from './simulation/description.js';

/** Contract 3, "I/O module"; in the order in which they are named to a user. */
export const PROTOCOL_DESCRIPTIONS = [modbusDescription, ethernetIpDescription, opcuaDescription, simulationDescription] as const;

export type Protocol = (typeof PROTOCOL_DESCRIPTIONS)[number]['protocol'];
