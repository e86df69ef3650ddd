import { beforeEach, describe, expect, it } from 'vitest';

import { takeTabId, type TextStore } from '../../src/client/browser_store';

class Store implements TextStore {
  constructor(readonly values = new Map<string, string>()) {}
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

let store: Store;
let page: EventTarget;

beforeEach(() => {
  store = new Store();
  page = new EventTarget();
});

describe('the id of a tab', () => {
  it('stays through a reload', () => {
    const id = takeTabId(store, page);
    page.dispatchEvent(new Event('pagehide'));
    expect(takeTabId(store, new EventTarget())).toBe(id);
  });

  it('is another one in a copy of the tab', () => {
    const id = takeTabId(store, page);
    const copy = new Store(new Map(store.values));
    expect(takeTabId(copy, new EventTarget())).not.toBe(id);
  });

  it('is not given away by a page that came back from the cache', () => {
    const id = takeTabId(store, page);
    page.dispatchEvent(new Event('pagehide'));
    page.dispatchEvent(new Event('pageshow'));
    expect(takeTabId(store, new EventTarget())).not.toBe(id);
  });

  it('is there where the browser stores nothing', () => {
    const refuse = (): never => {
      throw new Error('denied');
    };
    const closed = { getItem: refuse, setItem: refuse, removeItem: refuse };
    expect(takeTabId(closed, page)).not.toBe('');
    page.dispatchEvent(new Event('pagehide'));
  });
});
