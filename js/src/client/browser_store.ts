import { UUID } from '@lumino/coreutils';

const KEY = 'cellwright:tab';

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

/**
 * The id of this tab; the same one after a reload.
 *
 * It lies in the store only while no page holds it: a duplicated tab copies the store of a page
 * that is alive, finds no id and so gets its own.
 */
export function takeTabId(store: TextStore, page: EventTarget): string {
  const id = take(store) || UUID.uuid4();
  page.addEventListener('pagehide', () => {
    writeText(store, KEY, id);
  });
  page.addEventListener('pageshow', () => {
    take(store);
  });
  return id;
}

function take(store: TextStore): string {
  const id = readText(store, KEY);
  writeText(store, KEY, '');
  return id;
}
