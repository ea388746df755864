/** As `isLoopback` of the appliance, by what a browser calls this machine: whoever is asked for it means himself. */
const THIS_MACHINE = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

export function isThisMachine(hostname: string): boolean {
  return THIS_MACHINE.test(hostname);
}
