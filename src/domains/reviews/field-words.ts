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
