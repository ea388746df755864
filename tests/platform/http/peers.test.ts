/** Whose request it is stands in its record: that no socket is asked while all connections came from one address is seen by nobody. */
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import t from 'tap';
import { Peers } from '../../../src/platform/http/source-ip.js';
import { startPlant } from '../../domains/tags/plant.js';
import { SocketClient } from '../stream/clients.js';

/** A socket that counts how often it is asked. */
function socket(...bytes: number[]) {
  const peer = {
    asked: 0,
    getRemoteAddress: () => {
      peer.asked += 1;
      return Uint8Array.from(bytes).buffer;
    },
  };
  return peer;
}

t.test('no request asks its socket while all connections came from one address; with a second one each does, whoever has gone since', async (t) => {
  const peers = new Peers();
  const [first, second, foreign] = [socket(10, 0, 0, 1), socket(10, 0, 0, 1), socket(10, 0, 0, 2)];
  peers.came(first);
  peers.came(second);
  t.same([peers.addressOf(first), peers.addressOf(second), first.asked, second.asked], ['10.0.0.1', '10.0.0.1', 1, 1]);
  peers.came(foreign);
  t.same([peers.addressOf(first), peers.addressOf(foreign), first.asked, foreign.asked], ['10.0.0.1', '10.0.0.2', 2, 2]);
  peers.came(foreign);
  t.same([peers.addressOf(first), peers.addressOf(foreign), first.asked, foreign.asked], ['10.0.0.1', '10.0.0.2', 3, 4]);
});

t.test('a connection that had gone before it was looked at says nothing of the others', async (t) => {
  const peers = new Peers();
  const [gone, next] = [socket(), socket(10, 0, 0, 3)];
  peers.came(gone);
  peers.came(next);
  t.same([peers.addressOf(gone), peers.addressOf(next)], ['unknown', '10.0.0.3']);
});

t.test('each of several clients is on record with its own address, whoever comes and goes, also by WebSocket', async (t) => {
  const plant = await startPlant();
  const agents: Agent[] = [];
  t.teardown(async () => {
    for (const agent of agents) agent.destroy();
    await plant.stop();
  });
  const { hostname, port } = new URL(plant.url);
  /** A client of one connection: `write` tells what its record says of it. */
  const client = (localAddress: string) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, localAddress });
    agents.push(agent);
    const headers = { Authorization: 'Bearer all', 'Content-Type': 'application/json', 'X-DCS-Nonce': '' };
    const write = (): Promise<string | undefined> =>
      new Promise((resolve, reject) => {
        const options = { agent, hostname, port, method: 'POST', path: '/api/v1/sites/north/units/rx101/tags/v101.sp', headers: { ...headers, 'X-DCS-Nonce': randomUUID() } };
        const asked = request(options, (answer) => {
          answer.resume().on('end', () => (answer.statusCode === 200 ? resolve(plant.audits.at(-1)?.sourceIP) : reject(new Error(`answered ${answer.statusCode}`))));
        });
        asked.on('error', reject).end('{"value":42.5}');
      });
    return { write, leave: () => agent.destroy() };
  };
  const stays = client('127.0.0.1');
  t.equal(await stays.write(), '127.0.0.1');
  const panel = await SocketClient.open(plant.url);
  panel.close();
  while (plant.hub.connectionCount > 0) await new Promise<void>((resolve) => setImmediate(resolve));
  const second = client('127.0.0.2');
  t.equal(await second.write(), '127.0.0.2');
  t.equal(await stays.write(), '127.0.0.1', 'also behind a WebSocket that has gone');
  second.leave();
  const third = client('127.0.0.3');
  t.equal(await third.write(), '127.0.0.3');
  t.equal(await stays.write(), '127.0.0.1');
});
