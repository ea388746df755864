// Type-aware rules that find bugs; layout is biome's, the import table is tests/tidy.
import tseslint from 'typescript-eslint';

/** `void promise` leaves its rejection to end the process: guardedPromise, or a handler that says what becomes of it. */
const noVoidPromise = {
  meta: { type: 'problem', schema: [], messages: { bare: 'A promise that nobody waits for needs guardedPromise (platform/base/guarded.ts) or a handler of its rejection.' } },
  create(context) {
    const { program, getTypeAtLocation } = context.sourceCode.parserServices;
    const checker = program.getTypeChecker();
    return {
      "UnaryExpression[operator='void']"(node) {
        const type = getTypeAtLocation(node.argument);
        const parts = type.isUnion() ? type.types : [type];
        if (parts.some((part) => checker.getPropertyOfType(part, 'then'))) context.report({ node, messageId: 'bare' });
      },
    };
  },
};

/** What Node has and a browser has not. */
const NODE_ONLY = ['process', 'Buffer', 'global', 'setImmediate', 'clearImmediate', 'require', 'module', 'exports', '__dirname', '__filename'];

export default tseslint.config(
  { ignores: ['dist*/**', 'node_modules/**', 'src/console/*.mjs', 'tests/smoke/client/**', 'scripts/**', 'bin/**', '*.js'] },
  // the types of served bodies bring Node's with them, which no browser has
  {
    files: ['src/console/**/*.{ts,tsx}'],
    languageOptions: { parser: tseslint.parser },
    rules: { 'no-restricted-globals': ['error', ...NODE_ONLY.map((name) => ({ name, message: 'A page runs in the browser, where there is no Node.' }))] },
  },
  {
    files: ['src/**/*.ts', 'runtime/**/*.ts', 'tests/**/*.ts'],
    ignores: ['src/console/**'],
    languageOptions: { parser: tseslint.parser, parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    plugins: { ts: tseslint.plugin },
    rules: {
      'ts/no-floating-promises': 'error',
      'ts/no-misused-promises': ['error', { checksVoidReturn: false }],
      'ts/await-thenable': 'error',
      'ts/no-for-in-array': 'error',
      'ts/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_', caughtErrorsIgnorePattern: '^_' }],
      'ts/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      'ts/consistent-type-imports': 'error',
      'ts/only-throw-error': 'error',
      'ts/no-explicit-any': 'off',
      eqeqeq: 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'no-console': 'off',
    },
  },
  {
    files: ['src/**/*.ts', 'runtime/**/*.ts'],
    ignores: ['src/console/**'],
    plugins: { seams: { rules: { 'no-void-promise': noVoidPromise } } },
    rules: { 'seams/no-void-promise': 'error' },
  },
  // tap's t.test() returns a promise that its parent awaits
  { files: ['tests/**/*.ts'], rules: { 'ts/no-floating-promises': 'off' } },
  // it polls by eval, which the pages' content security policy stops whenever its first look came too early: eventually() asks from outside
  {
    files: ['tests/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        { selector: "CallExpression[callee.property.name='waitForFunction']", message: 'The console forbids eval; wait with eventually() or a locator.' },
      ],
    },
  },
);
