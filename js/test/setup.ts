import { cleanup, configure } from '@testing-library/react';
import { afterEach } from 'vitest';

// A machine that is busy takes longer than the usual second.
configure({ asyncUtilTimeout: 5000 });

// What is drawn does not outlive its test: its timers would run without a page.
afterEach(cleanup);

const FRAME_MILLISECONDS = 16;

// What JupyterLab expects of a browser and jsdom does not have.
class Observer {
  observe(): void {
    return;
  }
  unobserve(): void {
    return;
  }
  disconnect(): void {
    return;
  }
}

// jsdom's own frames stop for good when the first one is asked for while a test fakes timers: all
// files of a worker share one page, and Lumino has kept the real function.
const { setTimeout: later, clearTimeout: cancel } = globalThis;

Object.assign(globalThis, {
  requestAnimationFrame: (callback: FrameRequestCallback) =>
    later(() => {
      callback(performance.now());
    }, FRAME_MILLISECONDS),
  cancelAnimationFrame: (frame: number) => {
    cancel(frame);
  },
  DragEvent: class extends Event {},
  IntersectionObserver: Observer,
  ResizeObserver: Observer,
  requestIdleCallback: (callback: () => void) => setTimeout(callback),
  matchMedia: () => ({
    matches: false,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
    // The toolbar of JupyterLab's documents still listens the old way.
    addListener: () => undefined,
    removeListener: () => undefined
  })
});
