/** A box that a test answers for, and as much of a browser as modules of the pages need: answers come when, and as, the test gives them. */

/** What the box answers to a request. Anything but a `Response` is sent as JSON. */
export type Answering = (path: string, body: unknown) => unknown;

export interface PageBox {
  /** What was asked for, without the way to the site, in the order of the questions. */
  readonly asked: string[];
  answer: Answering;
  /** What is done by an interval is done once more. */
  tick(): void;
  /** Nobody sees the page any more. */
  hide(): void;
}

const SITE = /^\/api\/v1\/(sites\/[^/]*\/)?/;

/** Has to come before the modules are loaded. Intervals stand still until the test lets them run. */
export function pageBox(answer: Answering): PageBox {
  const intervals = new Map<number, () => void>();
  let count = 0;
  const box: PageBox = {
    asked: [],
    answer,
    tick: () => [...intervals.values()].forEach((run) => run()),
    hide: () => void Object.assign((globalThis as unknown as { readonly document: object }).document, { hidden: true }),
  };
  const place = { origin: 'http://box', pathname: '/hmi', search: '', hash: '' };
  const page = {
    location: place,
    history: { state: null, replaceState: (_state: unknown, _title: string, address: string) => void (place.hash = address.replace(/^[^#]*/, '')) },
    addEventListener: () => undefined,
    setTimeout: (run: () => void, ms: number) => setTimeout(run, ms).unref(),
    setInterval: (run: () => void) => {
      intervals.set((count += 1), run);
      return count;
    },
    clearInterval: (id: number) => void intervals.delete(id),
    fetch: async (address: string, { body }: { readonly body?: string }) => {
      const path = address.replace(SITE, '');
      box.asked.push(path);
      const found: unknown = await box.answer(path, body === undefined ? undefined : JSON.parse(body));
      return found instanceof Response ? found : Response.json(found);
    },
  };
  for (const [name, value] of Object.entries({ window: page, ...page }))
    if (name !== 'setTimeout') Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  return box;
}

/** A page of a list, with the way to the next one. */
export function listAnswer(items: readonly unknown[], next = '', total = items.length): Response {
  return Response.json(items, { headers: { 'X-Total-Count': String(total), ...(next === '' ? {} : { Link: `<${next}>; rel="next"` }) } });
}

/** An answer that is given when the test says so. */
export function held<T>(): { readonly promise: Promise<T>; readonly give: (value: T) => void; readonly refuse: (fault: Error) => void } {
  let parts: { readonly give: (value: T) => void; readonly refuse: (fault: Error) => void } | undefined;
  const promise = new Promise<T>((give, refuse) => (parts = { give, refuse }));
  return { promise, ...(parts as NonNullable<typeof parts>) };
}
