/** What the actions of the routes ask of a caller (decisions Q-TIER-01); cumulative, low to high. */
export const TIERS = ['read', 'operate', 'operate-lead', 'engineer', 'supervise', 'admin'] as const;
export type Tier = (typeof TIERS)[number];
