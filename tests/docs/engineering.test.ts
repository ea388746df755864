/** The examples of docs/engineering, each page on an appliance of its own that had no plant before. */
import { readdirSync } from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { ModbusPeer } from '../drivers/modbus-peer.js';
import { FieldDevice } from '../support/field-device.js';
import { EthernetIpPeer } from '../support/ethernet-ip-peer.js';
import { OpcUaServer } from '../support/opcua-server.js';
import { ownFolder } from '../support/own-folder.js';
import { startPlant } from '../support/plant.js';
import { play } from './examples.js';

const FOLDER = 'docs/engineering';
/** Examples that each page has at least, so that a fence that is no example any more is noticed. */
const PAGES: Readonly<Record<string, number>> = {
  'modbus.md': 15,
  'loop-check.md': 18,
  'ethernet-ip.md': 10,
  'probes.md': 8,
  'opc-ua.md': 7,
  'mtp.md': 5,
  'simulation.md': 14,
  'names-and-tags.md': 7,
  'historian.md': 10,
  'coordination.md': 14,
  'recipes.md': 9,
  'change-control.md': 7,
};

/** Pages of what is typed in a shell: tests/cli and the suites beside this one play them. */
const IN_A_SHELL: readonly string[] = ['command-line.md', 'own-plant.md', 'ten-minutes.md'];

/** The device of a page, and its address there. */
const DEVICES: Readonly<Record<string, (t: Test) => Promise<{ readonly address: string; readonly peer: ModbusPeer | EthernetIpPeer | FieldDevice | OpcUaServer }>>> = {
  'loop-check.md': async () => ({ address: '192.168.10.20:502', peer: await FieldDevice.start() }),
  'modbus.md': async () => ({ address: '192.168.10.20:502', peer: await ModbusPeer.start() }),
  'probes.md': async () => ({ address: '192.168.10.20:502', peer: await ModbusPeer.start() }),
  'opc-ua.md': async (t) => ({ address: '192.168.10.30:4840', peer: await OpcUaServer.start({ folder: ownFolder(t) }) }),
  'ethernet-ip.md': async () => ({ address: '192.168.10.30', peer: await EthernetIpPeer.start() }),
};

/** An empty box in development, whose outputs are live. */
const EMPTY: Readonly<Record<string, string>> = {
  LINESIDE_GATEWAY__OPERATINGMODE: 'development',
  LINESIDE_IO__OUTPUTS: 'live',
  LINESIDE_IO__RECONNECT__MIN: '50ms',
  LINESIDE_HISTORIAN__MININTERVAL: '100ms',
};

for (const [page, examplesMin] of Object.entries(PAGES)) {
  t.test(`${FOLDER}/${page}: every example does what stands there`, async (t) => {
    const device = await DEVICES[page]?.(t);
    t.teardown(() => device?.peer.kill());
    const box = await startPlant({ production: true, environment: EMPTY });
    t.teardown(() => box.end());
    const played = await play(t, `${FOLDER}/${page}`, { box, instead: device ? { [device.address]: `127.0.0.1:${device.peer.port}` } : {} });
    t.ok(played >= examplesMin, `${played} examples`);
  });
}

t.test('every page of the folder is played', async (t) => {
  t.same(readdirSync(path.join(process.cwd(), FOLDER)).sort(), [...Object.keys(PAGES), ...IN_A_SHELL].sort());
});
