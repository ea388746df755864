/** Valves and motors as small words: filled while they are open, run or move, in colour only at fault. */
import { deviceLook } from '../data/device-look.js';
import type { Device } from '../data/key-tags.js';
import { tagValue } from '../data/plant.js';
import { tagText } from '../common/tag-text.js';
import { t, word } from '../common/strings.js';

/** A tile has room for so many. */
const DEVICES_SHOWN = 12;

/** The others are shown while they are in fault: none stands behind the edge of a tile. */
export function DeviceRow({ unit, devices }: { readonly unit: string; readonly devices: readonly Device[] }) {
  if (devices.length === 0) return null;
  return (
    <ul class="devices">
      {devices.map((device, at) => (
        <DeviceChip key={device.state.address} unit={unit} device={device} always={at < DEVICES_SHOWN} />
      ))}
    </ul>
  );
}

function DeviceChip({ unit, device, always }: { readonly unit: string; readonly device: Device; readonly always: boolean }) {
  const held = tagValue(unit, device.state.address).value;
  const look = deviceLook(held);
  if (!always && look !== 'fault') return null;
  const shown =
    held.quality === 'Good' ? word(typeof held.value === 'string' ? held.value : '') : look === 'fault' ? tagText(device.state, held) : (t.qualities[held.quality] ?? held.quality);
  return (
    <li
      class={`device device-${look === 'unknown' ? 'bad-quality' : look}`}
      title={`${device.module.toUpperCase()} ${device.description}`}
      data-testid={`device-${device.module}`}
      data-look={look}
      data-state={typeof held.value === 'string' ? held.value : ''}
    >
      <span class="device-name">{device.module.toUpperCase()}</span>
      <span class="device-state">{shown}</span>
    </li>
  );
}
