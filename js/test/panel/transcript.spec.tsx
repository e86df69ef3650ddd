import { act, cleanup, fireEvent, render, screen } from '@testing-library/react';
import * as React from 'react';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import type { Turn } from '../../src/chat/types';
import { formatElapsed, formatSize } from '../../src/ui/figures';
import { Transcript } from '../../src/panel/transcript';
import { turn } from './fakes';

/** What watches sizes and positions; a test calls it as the browser would. */
class Watcher {
  static all: Watcher[] = [];
  constructor(readonly tell: (entries: { isIntersecting: boolean }[]) => void) {
    Watcher.all.push(this);
  }
  observe(): void {
    return;
  }
  disconnect(): void {
    Watcher.all = Watcher.all.filter(watcher => watcher !== this);
  }
}

class SizeWatcher extends Watcher {}
class PlaceWatcher extends Watcher {}

beforeEach(() => {
  Watcher.all = [];
  vi.stubGlobal('ResizeObserver', SizeWatcher);
  vi.stubGlobal('IntersectionObserver', PlaceWatcher);
});

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

const turns = (count: number): Turn[] =>
  Array.from({ length: count }, (_, index) =>
    turn({ runId: `run-${String(index)}`, prompt: `Prompt ${String(index)}` })
  );

/** jsdom lays nothing out: give the box a height and the content one that grows. */
function layOut(contentHeight: () => number): HTMLElement {
  const box = screen.getByRole('log');
  Object.defineProperties(box, {
    clientHeight: { value: 100, configurable: true },
    scrollHeight: { get: contentHeight, configurable: true }
  });
  return box;
}

function tell(kind: typeof Watcher): void {
  act(() => {
    Watcher.all
      .filter(watcher => watcher instanceof kind)
      .forEach(watcher => {
        watcher.tell([{ isIntersecting: true }]);
      });
  });
}

it('is a log that does not announce every change', () => {
  render(<Transcript turns={turns(1)} sentCount={0} />);
  expect(screen.getByRole('log', { name: 'Conversation' }).getAttribute('aria-live')).toBe('off');
});

it('follows the end until the person scrolls up, and again after Jump to latest', () => {
  let height = 500;
  render(<Transcript turns={turns(2)} sentCount={0} />);
  const box = layOut(() => height);
  tell(SizeWatcher);
  expect(box.scrollTop).toBe(500);
  height = 700;
  tell(SizeWatcher);
  expect(box.scrollTop).toBe(700);
  expect(screen.queryByRole('button', { name: 'Jump to latest' })).toBeNull();

  fireEvent.scroll(box);
  box.scrollTop = 200;
  fireEvent.scroll(box);
  height = 900;
  tell(SizeWatcher);
  expect(box.scrollTop).toBe(200);

  fireEvent.click(screen.getByRole('button', { name: 'Jump to latest' }));
  expect(box.scrollTop).toBe(900);
  expect(screen.queryByRole('button', { name: 'Jump to latest' })).toBeNull();
});

it('follows the end when other content moves the view', () => {
  let height = 900;
  render(<Transcript turns={turns(2)} sentCount={0} />);
  const box = layOut(() => height);
  tell(SizeWatcher);
  fireEvent.scroll(box);
  height = 1500;
  box.scrollTop = 500;
  fireEvent.scroll(box);
  expect(box.scrollTop).toBe(1500);
  expect(screen.queryByRole('button', { name: 'Jump to latest' })).toBeNull();
});

it('offers no way to the end once everything fits', () => {
  let height = 900;
  render(<Transcript turns={turns(2)} sentCount={0} />);
  const box = layOut(() => height);
  tell(SizeWatcher);
  fireEvent.wheel(box, { deltaY: -40 });
  box.scrollTop = 0;
  expect(screen.getByRole('button', { name: 'Jump to latest' })).toBeDefined();
  height = 90;
  tell(SizeWatcher);
  expect(screen.queryByRole('button', { name: 'Jump to latest' })).toBeNull();
});

it('lets the person scroll up with the wheel while the answer grows', () => {
  let height = 900;
  render(<Transcript turns={turns(2)} sentCount={0} />);
  const box = layOut(() => height);
  tell(SizeWatcher);
  fireEvent.wheel(box, { deltaY: -40 });
  height = 1500;
  box.scrollTop = 500;
  tell(SizeWatcher);
  expect(box.scrollTop).toBe(500);
  expect(screen.getByRole('button', { name: 'Jump to latest' })).toBeDefined();
});

it('goes to the end for a prompt of the person', () => {
  const { rerender } = render(<Transcript turns={turns(2)} sentCount={0} />);
  const box = layOut(() => 500);
  box.scrollTop = 400;
  fireEvent.scroll(box);
  box.scrollTop = 100;
  fireEvent.scroll(box);
  rerender(<Transcript turns={turns(2)} sentCount={1} />);
  expect(box.scrollTop).toBe(500);
});

it('draws only the newest prompts of a long conversation, and more on demand', () => {
  render(<Transcript turns={turns(200)} sentCount={0} />);
  const shown = (): number => screen.getAllByRole('article').length;
  expect(shown()).toBe(30);
  expect(screen.getByText('Prompt 199')).toBeDefined();
  fireEvent.click(screen.getByRole('button', { name: 'Show 170 earlier prompts' }));
  expect(shown()).toBe(90);
  tell(PlaceWatcher);
  expect(shown()).toBe(150);
});

it('keeps what the person reads in place when earlier prompts come in above', () => {
  let height = 1000;
  render(<Transcript turns={turns(100)} sentCount={0} />);
  const box = layOut(() => height);
  box.scrollTop = 900;
  fireEvent.scroll(box);
  box.scrollTop = 40;
  fireEvent.scroll(box);
  const button = screen.getByRole('button', { name: /earlier prompts/ });
  fireEvent.mouseDown(button);
  height = 1000;
  Object.defineProperty(box, 'scrollHeight', {
    get: () => (screen.getAllByRole('article').length > 30 ? 3000 : 1000),
    configurable: true
  });
  fireEvent.click(button);
  expect(box.scrollTop).toBe(2040);
});

it('is where the person read when another view stood in its place', () => {
  let height = 500;
  const { container } = render(<Transcript turns={turns(2)} sentCount={0} />);
  const box = layOut(() => height);
  tell(SizeWatcher);
  fireEvent.scroll(box);
  box.scrollTop = 300;
  fireEvent.scroll(box);
  height = 0;
  container.hidden = true;
  tell(SizeWatcher);
  height = 500;
  box.scrollTop = 0;
  container.hidden = false;
  tell(SizeWatcher);
  expect(box.scrollTop).toBe(300);
});

it('takes nothing away above a reader while the conversation grows', () => {
  const { rerender } = render(<Transcript turns={turns(40)} sentCount={0} />);
  const box = layOut(() => 500);
  box.scrollTop = 400;
  fireEvent.scroll(box);
  box.scrollTop = 100;
  fireEvent.scroll(box);
  rerender(<Transcript turns={turns(45)} sentCount={0} />);
  expect(screen.getByText('Prompt 10')).toBeDefined();
  expect(screen.getAllByRole('article')).toHaveLength(35);
});

it.each([
  [0.4, '0s'],
  [59.9, '59s'],
  [65, '1m 05s']
])('writes an elapsed time of %d s as %s', (seconds, words) => {
  expect(formatElapsed(seconds)).toBe(words);
});

it.each([
  [512, '512 B'],
  [1500, '1.5 kB'],
  [52_000, '52 kB'],
  [3_400_000, '3.4 MB'],
  [1_250_000_000, '1.3 GB']
])('writes a size of %d bytes as %s', (bytes, words) => {
  expect(formatSize(bytes)).toBe(words);
});
