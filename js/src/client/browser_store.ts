import { UUID } from '@lumino/coreutils';

const KEY = 'cellwright:tab';

/** The part of the browser's `Storage` that is used. */
export interface TabStore {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/**
 * The id of this tab; the same one after a reload.
 *
 * It lies in the store only while no page holds it: a duplicated tab copies the store of a page
 * that is alive, finds no id and so gets its own.
 */
export function takeTabId(store: TabStore, page: EventTarget): string {
  const id = take(store) ?? UUID.uuid4();
  page.addEventListener('pagehide', () => {
    leave(store, id);
  });
  page.addEventListener('pageshow', () => {
    take(store);
  });
  return id;
}

function take(store: TabStore): string | null {
  try {
    const id = store.getItem(KEY);
    store.removeItem(KEY);
    return id === '' ? null : id;
  } catch {
    return null;
  }
}

function leave(store: TabStore, id: string): void {
  try {
    store.setItem(KEY, id);
  } catch {
    // full or forbidden: the next page is a new tab then
  }
}

// Texts that the browser keeps; nothing breaks where it refuses to.

/** The part of the browser's `Storage` that is used. */
export interface TextStore {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** Empty: nothing is kept, or nothing can be. */
export function readText(store: TextStore, key: string): string {
  try {
    return store.getItem(key) ?? '';
  } catch {
    return '';
  }
}

/** Keep a text; an empty one is forgotten. */
export function writeText(store: TextStore, key: string, value: string): void {
  try {
    if (value === '') {
      store.removeItem(key);
    } else {
      store.setItem(key, value);
    }
  } catch {
    // full or forbidden: what is on the screen is still there
  }
}
