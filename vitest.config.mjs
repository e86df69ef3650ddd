import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    environment: 'jsdom',
    include: ['js/test/**/*.spec.{ts,tsx}'],
    setupFiles: ['js/test/setup.ts'],
    // one jsdom for each worker: making one for each file took more time than the tests
    isolate: false,
    // JupyterLab's packages import without file endings, which only a bundler understands
    server: { deps: { inline: [/@jupyter/, /@lumino\//, /@microsoft\//] } }
  }
});
