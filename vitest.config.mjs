import { defineConfig } from 'vitest/config';

const DRAWN = 'js/test/{keeping,runs,views}/**/*.spec.{ts,tsx}';

export default defineConfig({
  test: {
    environment: 'jsdom',
    setupFiles: ['js/test/setup.ts'],
    // JupyterLab's packages import without file endings, which only a bundler understands
    server: { deps: { inline: [/@jupyter/, /@lumino\//, /@microsoft\//] } },
    projects: [
      // what takes the focus cannot share a page
      { extends: true, test: { name: 'drawn', include: [DRAWN] } },
      {
        extends: true,
        test: {
          name: 'models',
          include: ['js/test/**/*.spec.{ts,tsx}'],
          exclude: [DRAWN],
          // one jsdom for each worker: making one for each file took more time than the tests
          isolate: false
        }
      }
    ]
  }
});
