/** What the pages load of the box, without a browser: the one rule for answers that overtake each other. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import t from 'tap';

interface LatestLike {
  forget(): void;
  read<T>(ask: () => Promise<T>, take: (answer: T) => void): Promise<boolean>;
}

const SOURCE = fileURLToPath(new URL('../../../src/console/data/latest.ts', import.meta.url));

/** The consoles are built as pages; one module of them is loaded here as it is. */
async function load(): Promise<new () => LatestLike> {
  const { outputFiles } = await build({ entryPoints: [SOURCE], bundle: true, write: false, format: 'esm', logLevel: 'silent' });
  const { Latest } = (await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0]?.contents ?? []).toString('base64')}`)) as { Latest: new () => LatestLike };
  return Latest;
}

interface Held<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (fault: Error) => void;
}

/** An answer that is given when the test says so. */
function held<T>(): Held<T> {
  let parts: Omit<Held<T>, 'promise'> | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    parts = { resolve, reject };
  });
  return { promise, ...(parts as Omit<Held<T>, 'promise'>) };
}

t.test('of reads that overlap, no older answer follows a newer one', async (t) => {
  const Latest = await load();

  await t.test('the older answer that comes last is thrown away', async (t) => {
    const latest = new Latest();
    const taken: string[] = [];
    const older = held<string>();
    const first = latest.read(
      () => older.promise,
      (answer) => taken.push(answer),
    );
    t.equal(
      await latest.read(
        async () => 'newer',
        (answer) => taken.push(answer),
      ),
      true,
    );
    older.resolve('older');
    t.equal(await first, false);
    t.strictSame(taken, ['newer']);
  });

  await t.test('who asks faster than he is answered still gets on: answers in the order of the questions all count', async (t) => {
    const latest = new Latest();
    const taken: number[] = [];
    const answers = [1, 2, 3].map(() => held<number>());
    const reads = answers.map((answer) =>
      latest.read(
        () => answer.promise,
        (number) => taken.push(number),
      ),
    );
    for (const [at, answer] of answers.entries()) {
      answer.resolve(at);
      t.equal(await reads[at], true);
    }
    t.strictSame(taken, [0, 1, 2]);
  });

  await t.test('a refusal that was overtaken is no fault, and one that was not lets no older answer in', async (t) => {
    const latest = new Latest();
    const taken: string[] = [];
    const [slow, slower] = [held<string>(), held<string>()];
    const first = latest.read(
      () => slow.promise,
      (answer) => taken.push(answer),
    );
    const second = latest.read(
      () => slower.promise,
      (answer) => taken.push(answer),
    );
    await t.rejects(
      latest.read(
        () => Promise.reject(new Error('gone')),
        () => undefined,
      ),
      /gone/,
    );
    slow.reject(new Error('too late'));
    slower.resolve('before it was gone');
    t.strictSame(await Promise.all([first, second]), [false, false]);
    t.strictSame(taken, []);
  });

  await t.test('what was asked before it was forgotten is thrown away', async (t) => {
    const latest = new Latest();
    const taken: string[] = [];
    const answer = held<string>();
    const read = latest.read(
      () => answer.promise,
      (found) => taken.push(found),
    );
    latest.forget();
    answer.resolve('of the batch before');
    t.equal(await read, false);
    t.equal(
      await latest.read(
        async () => 'of this batch',
        (found) => taken.push(found),
      ),
      true,
    );
    t.strictSame(taken, ['of this batch']);
  });
});
