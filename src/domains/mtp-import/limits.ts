/** How much of a module type package is read (ADR 0073). A real one has some hundred elements and less than a megabyte; beyond these it is refused with its cause. */
export const LIMITS = {
  /** Of the file as it was sent, in bytes: the body of the request has a third more of it in base64. */
  packageBytes: 8 * 1024 ** 2,
  /** Members of the archive, read or not. */
  members: 2000,
  memberNameLength: 255,
  /** Of the manifest, unpacked, in bytes. Nothing else of the archive is unpacked. */
  manifestBytes: 16 * 1024 ** 2,
  /** Unpacked bytes for each packed one, of a manifest larger than `smallBytes`. XML of many like elements has 50. */
  ratio: 200,
  smallBytes: 1024 ** 2,
  /** Of the XML. */
  depth: 64,
  elements: 100_000,
  attributesOfElement: 64,
  attributeLength: 16_384,
  textLength: 65_536,
  /** Rows of a report; what comes after them is counted. */
  reportRows: 1000,
} as const;

/** The thread that reads has so long, so that the answer comes within two seconds (G22), */
export const READ_WITHIN_MS = 1700;
/** and so long where the machine has less than a processor for the whole process, */
export const READ_WITHIN_MS_MAX = 10_000;
/** and so much memory. */
export const READ_MEMORY_MB_MAX = 160;
