/** A Modbus TCP device that none of us wrote (pymodbus), with a plug to pull and a second client to set and look. */
import ModbusRTU from 'modbus-serial';
import { ModbusPeer } from '../drivers/modbus-peer.js';

const UNIT_ID = 1;

export interface ModbusDevice {
  set(table: 'holding', offset: number, value: number): Promise<void>;
  get(table: 'coil', offset: number): Promise<number>;
  unplug(): void;
  plugIn(): Promise<void>;
  stop(): Promise<void>;
}

export async function startModbusPeer(port: number): Promise<ModbusDevice> {
  let peer = await ModbusPeer.start(port);
  const talk = async <T>(call: (client: ModbusRTU.default) => Promise<T>): Promise<T> => {
    const client = new ModbusRTU.default();
    await client.connectTCP('127.0.0.1', { port });
    client.setID(UNIT_ID);
    client.setTimeout(2000);
    try {
      return await call(client);
    } finally {
      await new Promise<void>((resolve) => client.close(() => resolve()));
    }
  };
  return {
    set: (_, offset, value) => talk(async (client) => void (await client.writeRegister(offset, value))),
    get: (_, offset) => talk(async (client) => Number((await client.readCoils(offset, 1)).data[0])),
    unplug: () => void peer.kill(),
    async plugIn() {
      await peer.kill();
      peer = await ModbusPeer.start(port);
    },
    stop: () => peer.kill(),
  };
}
