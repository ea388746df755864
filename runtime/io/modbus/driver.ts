/** The modbus driver: TCP, RTU over TCP, and serial lines, whose library is loaded only when one is configured. */
import type { ProbeModule } from '../../port.js';
import type { Driver } from '../driver.js';
import type { Clock } from '../../vocabulary/clock.js';
import { numberOption, resolveOptions } from '../options.js';
import { BYTE_ORDERS } from './address.js';
import { modbusDescription } from './description.js';
import { parseEndpoint } from './endpoint.js';
import { ModbusLink } from './link.js';
import { connectMbap } from './mbap-client.js';
import type { Transport } from './transport.js';

async function connectTransport(module: ProbeModule, timeoutMs: number, clock: Clock): Promise<Transport> {
  const endpoint = parseEndpoint(module.address);
  if (!endpoint.ok) throw new Error(endpoint.message);
  const { value } = endpoint;
  if (value.kind === 'tcp') return connectMbap({ ...value, timeoutMs }, clock);
  const { connectRtu, connectRtuOverTcp } = await import('./rtu-transport.js');
  return value.kind === 'rtu' ? connectRtu(value, timeoutMs, clock) : connectRtuOverTcp({ ...value, timeoutMs }, clock);
}

export const modbusDriver: Driver = {
  ...modbusDescription,
  async connect(module, clock) {
    const options = resolveOptions(modbusDescription.options, module.options);
    const transport = await connectTransport(module, numberOption(options, 'timeout'), clock);
    return new ModbusLink(transport, {
      unitId: numberOption(options, 'unitId'),
      maxRegisters: numberOption(options, 'maxRegisters'),
      maxBits: numberOption(options, 'maxBits'),
      maxGap: numberOption(options, 'maxGap'),
      retries: numberOption(options, 'retries'),
      writeMode: String(options.writeMode),
      byteOrder: BYTE_ORDERS.find((order) => order === options.byteOrder) ?? 'be',
    });
  },
};
