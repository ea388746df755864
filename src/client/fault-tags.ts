/** Which tags tell that a device is in fault: a trip or fault of the device itself; limits of a measurement (hh, h, l, ll) belong to the alarms. */
const FAULT = /fault|fail/i;

export function isFaultTag({ role, dataType, name }: { readonly role: string; readonly dataType: string; readonly name: string }): boolean {
  return role === 'alarm' && dataType === 'Boolean' && FAULT.test(name);
}
