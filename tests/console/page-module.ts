/** One module of the pages, loaded as a browser of this language loads it: the consoles are built as pages. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** @param source below src/console. */
export async function pageModule<T>(source: string, language = 'en-GB'): Promise<T> {
  Object.defineProperty(globalThis, 'navigator', { value: { language }, configurable: true });
  Object.defineProperty(globalThis, 'document', { value: { documentElement: {} }, configurable: true });
  const entry = fileURLToPath(new URL(`../../../src/console/${source}`, import.meta.url));
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, write: false, format: 'esm', logLevel: 'silent', banner: { js: `// ${language}` } });
  return (await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0]?.contents ?? []).toString('base64')}`)) as T;
}
