import type { TextStore } from '../../src/client/browser_store';

/** A browser's storage that lasts as long as the test. */
export class FakeStore implements TextStore {
  readonly values = new Map<string, string>();

  getItem(key: string): string | null {
    return this.values.get(key) ?? null;
  }

  setItem(key: string, value: string): void {
    this.values.set(key, value);
  }

  removeItem(key: string): void {
    this.values.delete(key);
  }
}
