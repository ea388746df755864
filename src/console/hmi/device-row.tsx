/** Valves and motors as small words: filled while they are open, run or move, in colour only at fault. */
import type { Device } from '../data/key-tags.js';
import { tagValue } from '../data/plant.js';
import { t, word } from '../common/strings.js';

const ACTIVE = /^(open|opened|opening|closing|running|starting|stopping|on)$/i;
const FAULT = /fault|fail|trip|alarm|error/i;

export function DeviceRow({ unit, devices }: { readonly unit: string; readonly devices: readonly Device[] }) {
  if (devices.length === 0) return null;
  return (
    <ul class="devices">
      {devices.map((device) => (
        <DeviceChip key={device.state.address} unit={unit} device={device} />
      ))}
    </ul>
  );
}

function DeviceChip({ unit, device }: { readonly unit: string; readonly device: Device }) {
  const { value, quality } = tagValue(unit, device.state.address).value;
  const state = typeof value === 'string' ? value : '';
  const look = quality !== 'Good' ? 'bad-quality' : FAULT.test(state) ? 'fault' : ACTIVE.test(state) ? 'active' : 'rest';
  const shown = quality === 'Good' ? word(state) : (t.qualities[quality] ?? quality);
  return (
    <li class={`device device-${look}`} title={`${device.module.toUpperCase()} ${device.description}`}>
      <span class="device-name">{device.module.toUpperCase()}</span>
      <span class="device-state">{shown}</span>
    </li>
  );
}
