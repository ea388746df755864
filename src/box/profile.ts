/**
 * A hardware profile: what one family of boxes is known by, what it has, and how much of a plant it is known to carry. One file of
 * firmware-profiles/ each; its JSON Schema is written from here.
 */
import * as v from 'valibot';

/** Of a name, a folder or a model: letters that are compared without regard to case; `*` stands for any. */
const Pattern = v.pipe(v.string(), v.minLength(1), v.description('text, compared without regard to case; * stands for any letters'));
const Count = v.pipe(v.number(), v.integer(), v.minValue(1));

export const Match = v.strictObject({
  arch: v.optional(v.pipe(v.picklist(['x64', 'arm64', 'arm', 'riscv64']), v.description('processor architecture, as Node names it'))),
  vendor: v.optional(v.pipe(Pattern, v.description('DMI sys_vendor'))),
  product: v.optional(v.pipe(Pattern, v.description('DMI product_name'))),
  board: v.optional(v.pipe(Pattern, v.description('DMI board_name'))),
  model: v.optional(v.pipe(Pattern, v.description('model of the device tree'))),
  compatible: v.optional(v.pipe(Pattern, v.description('one of the words that the device tree is compatible with'))),
  cpu: v.optional(v.pipe(Pattern, v.description('model name in /proc/cpuinfo'))),
  coresMin: v.optional(v.pipe(Count, v.description('at least so many processors'))),
  memoryMinMiB: v.optional(v.pipe(Count, v.description('at least so much memory that the kernel has, in MiB'))),
});
export type Match = v.InferOutput<typeof Match>;

export const Limits = v.strictObject({
  units: v.pipe(Count, v.description('units of all sites together')),
  tags: v.pipe(Count, v.description('tags of all sites together, as the catalog of tags lists them')),
  streams: v.pipe(Count, v.description('live streams open at once; the panel at the box itself (loopback) is not counted out')),
  scanIntervalMinMs: v.pipe(v.number(), v.integer(), v.minValue(10), v.maxValue(10_000), v.description('shortest scan interval of a unit, module template or program, in ms')),
  historianDiskShare: v.pipe(
    v.number(),
    v.minValue(0.01),
    v.maxValue(0.9),
    v.description('the historian takes at most this part of the disk of the data directory, whatever historian.maxBytes says'),
  ),
});
export type Limits = v.InferOutput<typeof Limits>;

const SerialPort = v.strictObject({
  name: v.pipe(v.string(), v.description('as it is printed on the box')),
  device: v.pipe(v.string(), v.regex(/^\/dev\//), v.description('for example /dev/ttyS0')),
  standard: v.pipe(v.picklist(['RS-232', 'RS-485', 'RS-232/422/485', 'UART']), v.description('electrical standard')),
});
const NetworkPort = v.strictObject({
  name: v.pipe(v.string(), v.description('as it is printed on the box')),
  interface: v.pipe(Pattern, v.description('name of the network interface')),
  role: v.pipe(v.picklist(['plant', 'devices', 'service']), v.description('plant: people and the MES; devices: field devices; service: a laptop beside the box')),
});

/** What a box of the family has: `lineside doctor` says what of it is not there. */
export const Hardware = v.strictObject({
  isolatedCpus: v.optional(v.pipe(v.string(), v.regex(/^\d+([-,]\d+)*$/), v.description('processors kept for scan threads, as isolcpus= names them'))),
  watchdog: v.optional(v.pipe(v.string(), v.regex(/^\/dev\//), v.description('device of the hardware watchdog'))),
  serialPorts: v.optional(v.array(SerialPort), []),
  network: v.optional(v.array(NetworkPort), []),
  storage: v.optional(
    v.strictObject({
      medium: v.pipe(v.picklist(['ssd', 'nvme', 'emmc', 'sd', 'hdd', 'any']), v.description('medium that the data directory belongs on, or a better one; any says nothing')),
      dataMinGiB: v.optional(v.pipe(Count, v.description('smallest disk of the data directory, in GiB'))),
    }),
  ),
});

export const Profile = v.strictObject({
  $schema: v.optional(v.string()),
  name: v.pipe(v.string(), v.regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/), v.maxLength(63), v.description('as the file is called, without .json; box.profile names it')),
  title: v.pipe(v.string(), v.minLength(1), v.description('for people')),
  verified: v.pipe(v.boolean(), v.description('false: a draft, written from documents and tried on no such box; the product warns of it')),
  basis: v.pipe(v.string(), v.minLength(1), v.description('where the figures come from')),
  match: v.pipe(
    Match,
    v.description('all of it must be so; the profile that says most of which box it is (vendor, product, board, model, compatible, cpu) wins, then the one with most conditions'),
  ),
  limits: v.pipe(Limits, v.description('how much of a plant the box is known to carry')),
  hardware: v.optional(v.pipe(Hardware, v.description('what a box of the family has')), {}),
});
export type Profile = v.InferOutput<typeof Profile>;
