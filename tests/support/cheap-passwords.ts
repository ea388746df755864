/** A password hash takes a third of a second of the processor; its cost is tested by itself (domains/access/sign-in). In development mode only. */
export const CHEAP_PASSWORDS = { LINESIDE_AUTH__LOCAL__PASSWORDWORK: '4' };
