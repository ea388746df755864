/** Modules of the pages, loaded as a browser of this language loads them: the consoles are built as pages. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** @param sources below src/console, separated by spaces; several share what they import, as in the page. */
export async function pageModule<T>(sources: string, language = 'en-GB'): Promise<T> {
  Object.defineProperty(globalThis, 'navigator', { value: { language }, configurable: true });
  Object.defineProperty(globalThis, 'document', { value: { documentElement: {} }, configurable: true });
  Object.defineProperty(globalThis, 'localStorage', { value: { getItem: () => null }, configurable: true });
  const contents = sources.split(' ').map((source) => `export * from './${source}';`);
  const resolveDir = fileURLToPath(new URL('../../../src/console', import.meta.url));
  const { outputFiles } = await build({
    stdin: { contents: contents.join('\n'), resolveDir },
    bundle: true,
    write: false,
    format: 'esm',
    logLevel: 'silent',
    define: { 'import.meta.glob': 'noFiles' }, // of Vite: a language that is one file is not read
    banner: { js: `// ${language}\nconst noFiles = () => ({});` },
  });
  return (await import(`data:text/javascript;base64,${Buffer.from(outputFiles[0]?.contents ?? []).toString('base64')}`)) as T;
}
