/** The modbus protocol as the gateway knows it (decisions 7.3, 7.4). */
import { describe, parsed } from '../description.js';
import { COMMON_OPTIONS, type OptionValue } from '../options.js';
import { BYTE_ORDERS, cellsOf, overlaps, ownershipPoint, parseModbusChannel, problemOfValue } from './address.js';
import { endpointText, isLine, parseEndpoint } from './endpoint.js';

const UNIT_ID_DEFAULT = 1;

function unitId(options: Readonly<Record<string, OptionValue>>): number {
  return Number(options.unitId ?? UNIT_ID_DEFAULT);
}

export const modbusDescription = describe({
  protocol: 'modbus',
  options: [
    ...COMMON_OPTIONS,
    { name: 'unitId', type: 'integer', default: UNIT_ID_DEFAULT, min: 0, max: 247, meaning: 'unit (slave) addressed when a channel names none' },
    { name: 'maxRegisters', type: 'integer', default: 125, min: 1, max: 125, meaning: 'most registers in one read' },
    { name: 'maxBits', type: 'integer', default: 2000, min: 1, max: 2000, meaning: 'most coils or discrete inputs in one read' },
    { name: 'maxGap', type: 'integer', default: 8, min: 0, max: 2000, meaning: 'unused registers or bits read along rather than in a second request' },
    {
      name: 'writeMode',
      type: 'choice',
      default: 'auto',
      choices: ['auto', 'multiple'],
      meaning: 'auto: a single write for one coil or register; multiple: always function 15 or 16',
    },
    { name: 'byteOrder', type: 'choice', default: 'be', choices: BYTE_ORDERS, meaning: 'order of 32 and 64 bit channels that name none' },
  ],
  parseAddress(text) {
    const endpoint = parseEndpoint(text);
    return endpoint.ok ? parsed(endpointText(endpoint.value)) : endpoint;
  },
  parseChannel(text, direction) {
    const address = parseModbusChannel(text, direction);
    return address.ok ? parsed({ dataType: address.value.dataType }) : address;
  },
  problemOfValue,
  unitOf: (options) => String(unitId(options)),
  placeOf: (address, options, endpoint) => cellsOf(address, unitId(options), isLine(endpoint)),
  registers: { ownershipPoint, overlaps: (a, b, options) => overlaps(a, b, unitId(options)) },
});
