/** Names of roles, modules, tags, ports, steps and parameters are compared without regard to case (decisions, conventions). */
export function sameName(a: string, b: string): boolean {
  return a === b || a.toLowerCase() === b.toLowerCase();
}
