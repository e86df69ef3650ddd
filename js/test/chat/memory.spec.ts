import { beforeEach, describe, expect, it } from 'vitest';

import { ChatMemory } from '../../src/chat/memory';
import type { TextStore } from '../../src/client/browser_store';
import { FakeStore } from './fake_store';

let tab: FakeStore;
let browser: FakeStore;
let memory: ChatMemory;

beforeEach(() => {
  tab = new FakeStore();
  browser = new FakeStore();
  memory = new ChatMemory(tab, browser);
});

describe('what the panel remembers', () => {
  it('keeps unsent text for the tab and the mode for the browser', () => {
    memory.setDraft('c1', 'half a thought');
    memory.setMode('c1', 'edits');
    expect(new ChatMemory(tab, new FakeStore()).draft('c1')).toBe('half a thought');
    expect(new ChatMemory(new FakeStore(), browser).mode('c1')).toBe('edits');
  });

  it('never keeps the mode in which nobody is asked', () => {
    memory.setMode('c1', 'edits');
    memory.setMode('c1', 'auto');
    expect(memory.mode('c1')).toBeNull();
    expect([...browser.values.values()]).toEqual([]);
  });

  it('does not believe a mode that somebody wrote into the store', () => {
    memory.setMode('c1', 'plan');
    for (const key of browser.values.keys()) {
      browser.setItem(key, 'auto');
    }
    expect(memory.mode('c1')).toBeNull();
  });

  it('goes along when a chat gets its id', () => {
    memory.setDraft('new:a.ipynb', 'text');
    memory.setMode('new:a.ipynb', 'plan');
    memory.setAssistant('new:a.ipynb', 'careful');
    memory.setModel('new:a.ipynb', 'qwen3-coder');
    memory.rename('new:a.ipynb', 'c1');
    expect(memory.draft('c1')).toBe('text');
    expect(memory.mode('c1')).toBe('plan');
    expect(memory.assistant('c1')).toBe('careful');
    expect(new ChatMemory(new FakeStore(), browser).model('c1')).toBe('qwen3-coder');
    expect(memory.draft('new:a.ipynb')).toBe('');
  });

  it('leaves nothing of what is forgotten', () => {
    memory.setDraft('c1', 'text');
    memory.setMode('c1', 'plan');
    memory.setDriven('c1', true);
    memory.setUnfinished('c1', 'r1');
    memory.setAssistant('c1', 'careful');
    memory.setModel('c1', 'qwen3-coder');
    memory.forget('c1');
    expect(tab.values.size + browser.values.size).toBe(0);
  });

  it('does without a browser that stores nothing', () => {
    const refuse = (): never => {
      throw new Error('denied');
    };
    const closed: TextStore = { getItem: refuse, setItem: refuse, removeItem: refuse };
    const forgetful = new ChatMemory(closed, closed);
    forgetful.setDraft('c1', 'text');
    expect(forgetful.draft('c1')).toBe('');
    expect(forgetful.mode('c1')).toBeNull();
  });
});
