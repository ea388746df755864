/** Addresses between the pages. Only paths of this origin are followed, so that a link cannot lead a signed-in person away. */

export const HMI = '/hmi';

/**
 * @returns the path asked for, or the HMI when it is missing, foreign or the login page itself. Judged as it is written after
 * `.` and `..` are resolved: `/.//host` is a path of this origin, and `//host`, which it becomes, is another host.
 */
export function localTarget(asked: string | null, origin: string): string {
  if (asked === null || !asked.startsWith('/')) return HMI;
  try {
    const target = new URL(asked, origin);
    if (target.origin !== origin || target.pathname === '/login' || target.pathname.startsWith('//')) return HMI;
    return target.pathname + target.search + target.hash;
  } catch {
    return HMI;
  }
}

export function toLogin(ended: string): void {
  const query = new URLSearchParams({ redirect: location.pathname + location.search + (ended === 'logout' ? '' : location.hash) });
  if (ended !== '') query.set('ended', ended);
  location.replace(`/login?${query}`);
}
