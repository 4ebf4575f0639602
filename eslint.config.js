import js from '@eslint/js';
import globals from 'globals';

export default [
  { ignores: ['build/', 'dist/', '**/node_modules/', 'test/fixtures/'] },
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2023, sourceType: 'module' },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      // Playwright reads the names of a test's first parameter.
      'no-empty-pattern': ['error', { allowObjectPatternsAsParameters: true }],
      'no-unused-vars': ['error', { argsIgnorePattern: '^_', caughtErrors: 'none' }],
      'no-var': 'error',
      'object-shorthand': 'error',
      'prefer-const': 'error',
    },
  },
  {
    // A page may forbid eval, and a key in a string that is evaluated is a key in a log.
    files: ['js/**'],
    rules: { 'no-eval': 'error', 'no-implied-eval': 'error', 'no-new-func': 'error' },
  },
  {
    files: ['js/**', 'test/browser/**', 'examples/**'],
    languageOptions: { globals: { ...globals.browser, ...globals.worker } },
  },
  {
    files: ['js/node*.js', 'scripts/**', 'bench/**', 'test/**', 'examples/**', '*.js'],
    languageOptions: { globals: globals.node },
  },
];
