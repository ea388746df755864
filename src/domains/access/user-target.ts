/** An account as the audit trail names it. */
export function userTarget({ username }: { readonly username: string }): { readonly kind: string; readonly name: string; readonly site: string } {
  return { kind: 'User', name: username, site: '' };
}
