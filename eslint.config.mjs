import jupyter from '@jupyter/eslint-plugin';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

import { importCycles } from './js/lint/import_cycles.mjs';

/** The recommended Jupyter rules, each one an error: nobody reads warnings. */
const jupyterRules = jupyter.configs.recommended.map(config => ({
  ...config,
  plugins: { jupyter },
  rules: Object.fromEntries(
    Object.entries(config.rules).map(([rule, level]) => [rule, level === 'off' ? 'off' : 'error'])
  )
}));

export default defineConfig([
  globalIgnores(['js/lib/', 'extension/', 'node_modules/']),
  ...jupyterRules,
  {
    files: ['js/**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    plugins: { cellwright: { rules: { 'import-cycles': importCycles } } },
    languageOptions: {
      parserOptions: { project: 'js/tsconfig.check.json', tsconfigRootDir: import.meta.dirname }
    },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      // Lumino's `connect(this._method, this)` binds; jupyter's rules check the second argument
      '@typescript-eslint/unbound-method': 'off',
      // JupyterLab groups command ids and options in namespaces
      '@typescript-eslint/no-namespace': 'off',
      'cellwright/import-cycles': 'error',
      complexity: ['error', 10],
      eqeqeq: 'error',
      'max-params': ['error', 5]
    }
  },
  {
    // a catalogue's keys are the texts themselves
    files: ['js/src/locale/**'],
    rules: { 'jupyter/no-untranslated-string': 'off' }
  },
  {
    // every plugin says its commands at once, in the person's language
    files: ['js/src/plugins/**'],
    rules: { 'jupyter/prefer-lazy-imports': ['error', { ignoreImports: ['../locale'] }] }
  },
  {
    // `?.` and `??` count as branches, and a view has many of them
    files: ['js/src/{panel,ui}/**'],
    rules: { complexity: ['error', 15] }
  },
  {
    files: ['js/test/**'],
    rules: {
      // what a test makes ends with the test
      'jupyter/require-disposable-ownership': 'off',
      complexity: 'off',
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // the text of a test is not shown to a person
      'jupyter/no-untranslated-string': 'off'
    }
  }
]);
