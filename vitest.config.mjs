import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    environment: 'jsdom',
    setupFiles: ['js/test/setup.ts'],
    include: ['js/test/**/*.spec.{ts,tsx}'],
    // one jsdom for each worker: making one for each file took more time than the tests
    isolate: false,
    pool: 'threads',
    // a test takes a tenth of a second; on a machine that works for others too, many times that
    testTimeout: 20_000,
    // all cores: vitest would leave one of two to nobody
    maxWorkers: '100%',
    // JupyterLab's packages import without file endings, which only a bundler understands
    server: { deps: { inline: [/@jupyter/, /@lumino\//, /@microsoft\//] } }
  }
});
