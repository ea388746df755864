// A vessel to practise with: a small Modbus TCP server that behaves like a valve, a level transmitter and a heater.
// It needs Node and nothing else:  node device.mjs --port 1502   (--speed 3: everything three times as fast)
//
//   coil 0        inlet valve: 1 opens it            discrete 0   valve is open
//   coil 1        drain, opened by hand: 1 opens it  discrete 1   valve is closed
//   holding 0     heater, 0 to 1000 for 0 to 100 %   input 0      level, 0 to 1000 for 0 to 100 %
//                                                    input 1      temperature in tenths of a degree, 0 to 1500
import { createServer } from 'node:net';

const TICK_S = 0.05;
const TRAVEL_S = 1; // from closed to open
const FILL_PER_S = 8; // percent of level, valve open
const DRAIN_PER_S = 20;
const HEAT_PER_S = 8; // kelvin, heater at 100 % and the vessel half full
const LOSS_PER_S = 0.01; // share of what the vessel is warmer than its surroundings
const SURROUNDINGS = 20; // °C
const WATER = 15; // °C of what flows in

const given = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : process.argv[at + 1];
};
const port = Number(given('port', '1502'));
const speed = Number(given('speed', '1'));
if (!Number.isInteger(port) || port < 0 || port > 65535) {
  console.error('device: --port is a number from 1 to 65535, for example --port 1502');
  process.exit(2);
}
if (!(speed > 0 && speed <= 10)) {
  console.error('device: --speed is a number up to 10, for example --speed 3');
  process.exit(2);
}

const coils = [0, 0];
const holding = [0];
let position = 0; // 0 closed, 1 open
let level = 0; // percent
let temperature = SURROUNDINGS; // °C

setInterval(
  () => {
    const step = TICK_S / TRAVEL_S;
    position = Math.min(1, Math.max(0, position + (coils[0] ? step : -step)));
    const inflow = level < 100 ? FILL_PER_S * position * TICK_S : 0;
    if (inflow > 0) temperature = (temperature * level + WATER * inflow) / (level + inflow);
    level = Math.min(100, Math.max(0, level + inflow - (coils[1] ? DRAIN_PER_S * TICK_S : 0)));
    // a small quantity is heated sooner than a large one; an empty vessel takes no heat at all
    const heat = level < 1 ? 0 : (HEAT_PER_S * Math.min(1000, holding[0]) * 50) / 1000 / Math.max(level, 20);
    temperature = Math.min(150, temperature + (heat - (temperature - SURROUNDINGS) * LOSS_PER_S) * TICK_S);
  },
  (TICK_S * 1000) / speed,
);

const tables = {
  1: () => coils,
  2: () => [position >= 1 ? 1 : 0, position <= 0 ? 1 : 0],
  3: () => holding,
  4: () => [Math.round(level * 10), Math.round(temperature * 10)],
};

const refusal = (fn, code) => Buffer.from([fn | 0x80, code]);
const ILLEGAL_FUNCTION = 1;
const ILLEGAL_ADDRESS = 2;
const ILLEGAL_VALUE = 3;

/** One request without its header, and its answer: functions 1 to 6, 15 and 16. */
function answer(request) {
  const fn = request[0];
  if (![1, 2, 3, 4, 5, 6, 15, 16].includes(fn)) return refusal(fn, ILLEGAL_FUNCTION);
  if (request.length < 5) return refusal(fn, ILLEGAL_VALUE);
  const [at, word] = [request.readUInt16BE(1), request.readUInt16BE(3)];
  if (fn <= 4) {
    const values = tables[fn]().slice(at, at + word);
    if (word < 1 || values.length < word) return refusal(fn, ILLEGAL_ADDRESS);
    if (fn >= 3) return Buffer.concat([Buffer.from([fn, word * 2]), ...values.map((value) => Buffer.from([(value >> 8) & 0xff, value & 0xff]))]);
    const bits = Buffer.alloc(Math.ceil(word / 8));
    values.forEach((value, bit) => value && (bits[bit >> 3] |= 1 << (bit & 7)));
    return Buffer.concat([Buffer.from([fn, bits.length]), bits]);
  }
  const isCoil = fn === 5 || fn === 15;
  const table = isCoil ? coils : holding;
  if (fn === 5 || fn === 6) {
    if (at >= table.length) return refusal(fn, ILLEGAL_ADDRESS);
    table[at] = isCoil ? (word === 0xff00 ? 1 : 0) : word;
    return request.subarray(0, 5);
  }
  if (word < 1 || at + word > table.length) return refusal(fn, ILLEGAL_ADDRESS);
  if (request.length < 6 + (isCoil ? Math.ceil(word / 8) : word * 2)) return refusal(fn, ILLEGAL_VALUE);
  for (let n = 0; n < word; n += 1) table[at + n] = isCoil ? (request[6 + (n >> 3)] >> (n & 7)) & 1 : request.readUInt16BE(6 + n * 2);
  return request.subarray(0, 5);
}

const server = createServer((socket) => {
  let waiting = Buffer.alloc(0);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    waiting = Buffer.concat([waiting, chunk]);
    // header: transaction (2), protocol (2), length of what follows (2), unit (1)
    while (waiting.length >= 8) {
      const end = 6 + waiting.readUInt16BE(4);
      if (end < 8 || end > 260) return socket.destroy();
      if (waiting.length < end) return;
      const body = answer(waiting.subarray(7, end));
      const header = Buffer.from(waiting.subarray(0, 7));
      header.writeUInt16BE(body.length + 1, 4);
      socket.write(Buffer.concat([header, body]));
      waiting = waiting.subarray(end);
    }
  });
});
server.on('error', (fault) => {
  console.error(`device: port ${port} cannot be taken (${fault.code}): another one with --port`);
  process.exit(1);
});
server.listen(port, '127.0.0.1', () => console.log(`practice vessel on 127.0.0.1:${server.address().port}; Ctrl-C stops it`));
