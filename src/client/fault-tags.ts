/** Which tags tell that a device is in fault: a trip or fault of the device itself; limits of a measurement (hh, h, l, ll) belong to the alarms. */
const WORDS = ['fault', 'fail'];
const FAULT = new RegExp(WORDS.join('|'), 'i');

/** By which a box lists no others than these: a large plant has a hundred times as many. */
export const FAULT_TAGS_QUERY = { role: 'alarm', name: WORDS };

export function isFaultTag({ role, dataType, name }: { readonly role: string; readonly dataType: string; readonly name: string }): boolean {
  return role === 'alarm' && dataType === 'Boolean' && FAULT.test(name);
}
