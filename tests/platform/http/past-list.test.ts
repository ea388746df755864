/** A list whose past is read page by page is what it would be were all in memory, and nothing is kept of what was sent (ADR 0037). */
import t from 'tap';
import { listReply, type PastItems } from '../../../src/platform/http/paged-list.js';
import { type Reply, StreamedReply } from '../../../src/platform/http/route.js';

interface Item {
  readonly name: string;
}

const PAGE = 100;
const item = (n: number): Item => ({ name: `n${String(n).padStart(5, '0')}` });
const byName = (a: Item, b: Item): number => (a.name < b.name ? -1 : 1);

/** Some past, some present; `before` and `after` are called round each page that is read. */
class Shelf implements PastItems<Item> {
  readonly past = new Set<string>();
  readonly here = new Set<string>();
  before: (page: number) => void = () => undefined;
  after: (page: number) => void = () => undefined;
  held = 0;
  read = 0;

  async *pages(after: string) {
    for (let last = after; ; ) {
      this.before(this.read);
      await Promise.resolve();
      const names = [...this.past].sort().filter((name) => name > last);
      const page = names.slice(0, PAGE);
      this.after(this.read);
      this.read += 1;
      last = page.at(-1) ?? '';
      if (page.length > 0) yield { items: page.map((name) => ({ name })), upTo: [last] };
      if (page.length < PAGE) return;
    }
  }

  present(): readonly Item[] {
    return [...this.here].map((name) => ({ name })).sort(byName);
  }

  hold(): () => void {
    this.held += 1;
    return () => void (this.held -= 1);
  }

  count(): number {
    return this.past.size;
  }
}

function asked(shelf: Shelf, query = ''): Promise<Reply<readonly Item[]>> {
  const parameters = new URLSearchParams(query);
  const read = { get: (name: string) => parameters.get(name) ?? undefined, all: (name: string) => parameters.getAll(name) };
  return listReply({ path: '/things', query: read }, { list: 'things', items: shelf.present(), keyOf: ({ name }) => [name], render: (each) => each, past: shelf });
}

async function textOf(reply: Reply): Promise<{ readonly text: string; readonly chunks: number }> {
  if (!(reply instanceof StreamedReply)) return { text: String(reply.body), chunks: 0 };
  const decoder = new TextDecoder();
  let [text, chunks] = ['', 0];
  for await (const chunk of reply.chunks) {
    text += decoder.decode(chunk);
    chunks += 1;
  }
  return { text, chunks };
}

function filled(count: number): Shelf {
  const shelf = new Shelf();
  for (let n = 0; n < count; n += 1) (n % 10 === 3 ? shelf.here : shelf.past).add(item(n).name);
  return shelf;
}

const allOf = (count: number): string => JSON.stringify(Array.from({ length: count }, (_, n) => item(n)));

t.test('a long list is sent page by page, a short one whole, and both are what is there', async (t) => {
  const long = filled(5000);
  const reply = await asked(long);
  t.ok(reply instanceof StreamedReply);
  t.ok(long.read < 15, `${long.read} pages were read before it is sent`);
  const { text, chunks } = await textOf(reply);
  t.equal(text, allOf(5000));
  t.ok(chunks > 30, `${chunks} chunks`);
  const short = await asked(filled(900));
  t.notOk(short instanceof StreamedReply);
  t.equal((await textOf(short)).text, allOf(900));
  t.equal((await textOf(await asked(new Shelf()))).text, '[]');
  t.equal(long.held, 0);
});

t.test('an answer that nobody takes holds nothing', async (t) => {
  const shelf = filled(5000);
  t.ok((await asked(shelf)) instanceof StreamedReply);
  t.equal(shelf.held, 0);
});

t.test('the pages of a list follow each other', async (t) => {
  const shelf = filled(500);
  let query = 'limit=70';
  const seen: Item[] = [];
  for (;;) {
    const reply = await asked(shelf, query);
    t.equal(reply.headers['X-Total-Count'], '500');
    seen.push(...(JSON.parse(String(reply.body)) as Item[]));
    const { Link } = reply.headers;
    if (Link === undefined) break;
    query = Link.slice(Link.indexOf('?') + 1, Link.indexOf('>'));
  }
  t.equal(JSON.stringify(seen), allOf(500));
});

t.test('what comes back while the list is read is in it once', async (t) => {
  const shelf = filled(2000);
  const [ahead, behind] = [item(1500).name, item(20).name];
  shelf.before = (page) => {
    if (page !== 3) return;
    for (const name of [ahead, behind]) {
      shelf.past.delete(name);
      shelf.here.add(name);
    }
  };
  t.equal((await textOf(await asked(shelf))).text, allOf(2000));
});

t.test('what becomes past between two pages is in it once: nothing does while one is read', async (t) => {
  const shelf = filled(2000);
  shelf.after = (page) => {
    t.equal(shelf.held, 1);
    if (page !== 3) return;
    queueMicrotask(function mark() {
      if (shelf.held > 0) return queueMicrotask(mark);
      for (const name of [item(503).name, item(1993).name]) {
        shelf.here.delete(name);
        shelf.past.add(name);
      }
    });
  };
  t.equal((await textOf(await asked(shelf))).text, allOf(2000));
});

t.test('a long list in memory is sent while it is made, and is what it was when it was asked for', async (t) => {
  const none = { get: () => undefined, all: () => [] };
  for (const count of [5000, 5001, 12_345]) {
    let rendered = 0;
    const items = { length: count, at: (n: number) => item(n) };
    const reply = await listReply({ path: '/things', query: none }, { list: 'things', items, keyOf: ({ name }: Item) => [name], render: (each: Item) => (rendered += 1) && each });
    t.equal(reply instanceof StreamedReply, count > 5000);
    if (count > 5000) t.ok(rendered <= 2000, 'no more of it is made than somebody takes');
    t.equal((await textOf(reply)).text, allOf(count));
  }
});
