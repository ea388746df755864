/** Reads on request (`iomodules/{name}/read`, decisions Q-IO-02): straight from the device, Bad with a message when it is silent. */
import type { ChannelSample, ProbeChannel, ProbeModule } from '../port.js';
import { inside } from '../vocabulary/assert.js';
import type { Link, Point, SampleSink } from './driver.js';
import type { Clock } from '../vocabulary/clock.js';
import { badSample } from './module-runner.js';
import { messageValue } from './values.js';

interface Wanted extends Point {
  /** Place in the answer. */
  readonly place: number;
  readonly channel: ProbeChannel;
}

function wantedOf(channel: ProbeChannel, place: number): Wanted {
  const address = channel.direction === 'output' && channel.readbackAddress !== '' ? channel.readbackAddress : channel.address;
  return { address, dataType: channel.dataType, place, channel };
}

export async function collectSamples(module: ProbeModule, names: readonly string[], link: Link | undefined, clock: Clock): Promise<ChannelSample[]> {
  const samples = names.map((name) => badSample(name, '', clock.wallMs(), `module ${module.module} has no channel ${name}`));
  const wanted = names.flatMap((name, place) => {
    const channel = module.channels.find((row) => row.name === name || row.address === name);
    return channel ? [wantedOf(channel, place)] : [];
  });
  const wantedAt = (position: number): Wanted => inside(wanted, position, 'a driver delivers the points it was asked for');
  const put = (position: number, sample: Pick<ChannelSample, 'value' | 'quality' | 'message'>): void => {
    const { place, channel } = wantedAt(position);
    samples[place] = { channel: channel.name, address: channel.address, atMs: clock.wallMs(), ...sample };
  };
  const bad = (position: number, message: string): void => put(position, { value: null, quality: 'Bad', message });
  wanted.forEach((_, position) => bad(position, `module ${module.module} is not connected`));
  if (!link || wanted.length === 0) return samples;
  const good = (position: number, value: number, text: string | undefined): void =>
    put(position, { value: messageValue(value, text, wantedAt(position).dataType), quality: 'Good', message: '' });
  const sink: SampleSink = {
    begin: () => {},
    number: (position, value) => good(position, value, undefined),
    integer: (position, value) => good(position, Number(value), String(value)),
    text: (position, value) => good(position, 0, value),
    bad,
    end: () => {},
  };
  try {
    await link.read(wanted, sink);
  } catch (error) {
    wanted.forEach((_, position) => bad(position, error instanceof Error ? error.message : String(error)));
  }
  return samples;
}
