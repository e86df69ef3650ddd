import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    environment: 'jsdom',
    setupFiles: ['js/test/setup.ts'],
    include: ['js/test/**/*.spec.{ts,tsx}'],
    // one jsdom for each worker: making one for each file took more time than the tests
    isolate: false,
    pool: 'threads',
    // all cores: vitest would leave one of two to nobody
    maxWorkers: '100%',
    // JupyterLab's packages import without file endings, which only a bundler understands
    server: { deps: { inline: [/@jupyter/, /@lumino\//, /@microsoft\//] } }
  }
});
