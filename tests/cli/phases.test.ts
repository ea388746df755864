/** What `lineside phase` asks of a box that has years of runs behind it: those at work, unless somebody wants the others. */
import t from 'tap';
import type { Box } from '../../src/cli/remote/box.js';
import type { CommandContext, Given } from '../../src/cli/remote/command.js';
import { ApiError } from '../../src/client/api-error.js';
import { localContext, rowOf } from './support.js';

interface Asked {
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
}

const run = (name: string, state: string): object => ({ name, state, parent: null, templateRef: 'heat', unit: 'rx101', startedAt: '2026-11-27T08:00:00.000Z' });

function context(asked: Asked[], args: readonly string[] = [], options: Given = {}): CommandContext {
  const runs = [run('works', 'Running'), run('has-ended', 'Complete'), run('is-reset', 'Idle')] as { state: string }[];
  const typed = {
    all: async (path: string, { query }: { query: Record<string, unknown> }): Promise<unknown[]> => {
      asked.push({ path, query });
      return path.endsWith('/phases') ? runs.filter(({ state }) => query.atWork === undefined || query.atWork === (state === 'Running')) : [];
    },
    get: async (): Promise<never> => {
      throw new ApiError(404, { code: 'not_found', error: 'there is none' });
    },
  };
  const box = { site: async () => 'demo', typed } as unknown as Box;
  return Object.defineProperty(localContext(args, options), 'box', { value: box }) as CommandContext;
}

const named = (data: unknown): unknown[] => (data as { name: string }[]).map(({ name }) => name);

t.test('lists, names and hints ask for what is at work; --all for everything, and reset for what has ended', async (t) => {
  const asked: Asked[] = [];
  const queries = (): unknown[] => asked.splice(0).map(({ query }) => query);
  const atWork = Array<unknown>(3).fill({ adhoc: true, atWork: true });

  t.same(named((await rowOf('phase list').run(context(asked)))?.data), ['works']);
  t.strictSame(queries(), atWork);
  t.same(named((await rowOf('phase list').run(context(asked, [], { all: true })))?.data), ['works', 'has-ended', 'is-reset']);
  t.strictSame(queries(), Array(3).fill({ adhoc: true }));

  await t.rejects(Promise.resolve(rowOf('phase show').run(context(asked, ['nobody']))), { message: 'no run by hand is called nobody in demo; there are works' });
  t.strictSame(queries(), atWork);
  t.same(await rowOf('phase hold').names?.run?.(context(asked)), ['works']);
  t.strictSame(queries(), atWork);
  t.same(await rowOf('phase reset').names?.run?.(context(asked)), ['has-ended']);
  t.strictSame(queries(), Array(3).fill({ adhoc: true, atWork: false }));
});
