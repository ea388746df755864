/** What the system alarms are told of a box with which nothing is wrong. */
export const QUIET_FACTS = {
  lostTags: () => [],
  nonceStoreNearlyFull: () => false,
  storageLow: () => false,
  archiveFault: () => null,
  archiveDamage: () => null,
  containedFault: () => null,
  trouble: () => undefined,
  troubleEnd: () => undefined,
  lookFault: () => null,
} as const;
