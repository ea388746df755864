/** What an OPC UA connection keeps of what was asked on it: nothing, however long it stands. In a process of its own, for its flag (expose-gc). */
import t from 'tap';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { opcuaDriver } from '../../runtime/io/opcua/driver.js';
import { systemClock } from '../../runtime/vocabulary/clock.js';
import { opcuaModule } from '../support/opcua-module.js';
import { OpcUaServer, PLANT_NAMESPACE } from '../support/opcua-server.js';
import { ownFolder } from '../support/own-folder.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const POINTS = 50;
const WARM = 150;
const READS = 400;
/** One answer of so many values kept for each read would be four times as much. */
const GROWTH_BYTES_MAX = 1_500_000;

t.test('G9: a connection that stands keeps no answer', async (t) => {
  const folder = ownFolder(t);
  const server = await OpcUaServer.start({ folder: `${folder}/server`, many: POINTS });
  t.teardown(() => server.kill());
  const link = await opcuaDriver.connect(opcuaModule(server.url, `${folder}/box`, [], { timeout: '20s' }), systemClock);
  t.teardown(() => link.close());
  const points = Array.from({ length: POINTS }, (_, place) => ({ address: `nsu=${PLANT_NAMESPACE};s=Many${place}`, dataType: 'float' as const }));
  const none = (): void => undefined;
  const sink = { begin: none, end: none, number: none, integer: none, text: none, bad: none };
  const after = async (reads: number): Promise<number> => {
    for (let read = 0; read < reads; read += 1) if ((await link.read(points, sink)).status !== 'answered') throw new Error('a read was not answered');
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = await after(WARM);
  const grown = (await after(READS)) - before;
  t.ok(grown < GROWTH_BYTES_MAX, `${grown} bytes after ${READS} reads`);
});
