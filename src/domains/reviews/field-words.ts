/** What the fields of a periodic review mean. */

export const ACCESS_ENTRY_WORDS = {
  accountId: 'Id of the account.',
  username: 'Its user name.',
  displayName: 'Name of the person.',
  origin: 'local: an account of this box; oidc: a person whom the identity provider has told of.',
  enabled: 'Whether it can sign in.',
  groups: ['Its groups.', ['lineside-operator', 'lineside-site-north']],
  tiers: ['What these groups may do, lowest first.', ['read', 'operate']],
  sites: 'Sites it is confined to; null: all.',
} as const;

export const KEY_ACCESS_WORDS = {
  name: 'Its name.',
  site: 'Site it is confined to; what an API key may do is the same for all of them.',
  keyPrefix: 'First characters of the key.',
  createdBy: 'Who has made it.',
  expiresAt: 'When it ends; null: never.',
  test: 'Whether what would change something is judged and not done.',
} as const;

export const PANEL_ACCESS_WORDS = {
  name: 'Its name.',
  displayName: 'As people read it.',
  site: 'Site that it watches: it may read it and nothing else.',
  enrolledBy: 'Who has let it in.',
} as const;
