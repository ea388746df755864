/**
 * The device key of a panel (D-C-18), in IndexedDB of its browser: no script can read the private part out, so that a copy of the page, or of what
 * it sends, is no panel. A page that is no secure context has no key.
 */
const DATABASE = 'lineside-panel';
const STORE = 'keys';
const ONLY = 'device';
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const PURPOSE = 'lineside panel 1 ';

export interface PanelKey {
  readonly keyID: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: { readonly kty: string; readonly crv: string; readonly x: string; readonly y: string };
  /** An administrator has taken its code. */
  readonly enrolled: boolean;
}

/** Undefined where this browser is no panel. */
export async function loadPanelKey(): Promise<PanelKey | undefined> {
  if (!isSecureContext) return undefined;
  try {
    return await inStore<PanelKey | undefined>('readonly', (store) => store.get(ONLY) as IDBRequest<PanelKey | undefined>);
  } catch {
    return undefined; // a browser that keeps nothing is no panel
  }
}

export async function savePanelKey(key: PanelKey): Promise<void> {
  await inStore('readwrite', (store) => store.put(key, ONLY));
}

export async function forgetPanelKey(): Promise<void> {
  await inStore('readwrite', (store) => store.delete(ONLY));
}

export async function makePanelKey(): Promise<Omit<PanelKey, 'keyID'>> {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(ALGORITHM, false, ['sign', 'verify']);
  const { kty = '', crv = '', x = '', y = '' } = await crypto.subtle.exportKey('jwk', publicKey);
  return { privateKey, publicKey: { kty, crv, x, y }, enrolled: false };
}

export async function signWith({ privateKey }: PanelKey, challenge: string): Promise<string> {
  const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, privateKey, new TextEncoder().encode(PURPOSE + challenge));
  return btoa(String.fromCharCode(...new Uint8Array(signature)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

async function inStore<Result>(mode: IDBTransactionMode, ask: (store: IDBObjectStore) => IDBRequest<Result>): Promise<Result> {
  const database = await opened();
  try {
    return await settled(ask(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

function opened(): Promise<IDBDatabase> {
  const asked = indexedDB.open(DATABASE, 1);
  asked.onupgradeneeded = () => void asked.result.createObjectStore(STORE);
  return settled(asked);
}

function settled<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('the browser keeps nothing'));
  });
}
