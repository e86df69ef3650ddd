import type { Kernel, KernelMessage } from '@jupyterlab/services';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Captures, HookEntry } from '../../src/notebook/run_work';

/** The part of JupyterLab's connection that registers hooks. */
class Connection {
  readonly _futures = new Map<string, HookEntry>();
}

function message(type: string, content: object = {}, channel = 'iopub'): KernelMessage.IMessage {
  return { channel, header: { msg_type: type }, content } as unknown as KernelMessage.IMessage;
}

function captures(kernel: object | null): Captures {
  return new Captures(() => kernel as Kernel.IKernelConnection | null);
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('capturing what the server runs', () => {
  it('gives widgets the messages of the cell, the newest hook first', async () => {
    const kernel = new Connection();
    captures(kernel).open('cell', 'message');
    const entry = kernel._futures.get('message');
    const seen: string[] = [];
    entry?.registerMessageHook(() => {
      seen.push('first');
      return true;
    });
    entry?.registerMessageHook(() => {
      seen.push('second');
      return true;
    });
    await entry?.handleMsg(message('stream'));
    await entry?.handleMsg(message('execute_reply', {}, 'shell'));
    expect(seen).toEqual(['second', 'first']);
  });

  it('lets a hook keep a message for itself', async () => {
    const kernel = new Connection();
    captures(kernel).open('cell', 'message');
    const entry = kernel._futures.get('message');
    const first = vi.fn(() => true);
    const second = (): boolean => false;
    entry?.registerMessageHook(first);
    entry?.registerMessageHook(second);
    await entry?.handleMsg(message('stream'));
    expect(first).not.toHaveBeenCalled();
    entry?.removeMessageHook(second);
    await entry?.handleMsg(message('stream'));
    expect(first).toHaveBeenCalledOnce();
  });

  it('outlives a hook that fails', async () => {
    const kernel = new Connection();
    captures(kernel).open('cell', 'message');
    const entry = kernel._futures.get('message');
    const logged = vi.spyOn(console, 'error').mockReturnValue(undefined);
    const first = vi.fn(() => true);
    entry?.registerMessageHook(first);
    entry?.registerMessageHook(() => {
      throw new Error('not ours');
    });
    await entry?.handleMsg(message('stream'));
    expect(first).toHaveBeenCalledOnce();
    expect(logged).toHaveBeenCalledOnce();
    logged.mockRestore();
  });

  it('ends with the kernel’s last word on the cell', async () => {
    const kernel = new Connection();
    captures(kernel).open('cell', 'message');
    const entry = kernel._futures.get('message');
    await entry?.handleMsg(message('status', { execution_state: 'busy' }));
    expect(kernel._futures.size).toBe(1);
    await entry?.handleMsg(message('status', { execution_state: 'idle' }));
    expect(kernel._futures.size).toBe(0);
  });

  it('ends soon after the cell when that word never comes', () => {
    const kernel = new Connection();
    const open = captures(kernel);
    open.open('cell', 'message');
    open.close('cell');
    expect(kernel._futures.size).toBe(1);
    vi.advanceTimersByTime(20_000);
    expect(kernel._futures.size).toBe(0);
  });

  it('ends with the document', () => {
    const kernel = new Connection();
    const open = captures(kernel);
    open.open('cell', 'message');
    open.dispose();
    expect(kernel._futures.size).toBe(0);
  });

  it('leaves a message of the page’s own alone', () => {
    const kernel = new Connection();
    const own = new HookEntry(() => undefined);
    kernel._futures.set('message', own);
    captures(kernel).open('cell', 'message');
    expect(kernel._futures.get('message')).toBe(own);
  });

  it.each([
    ['there is no kernel', null],
    ['JupyterLab keeps that list differently', { _futures: [] }]
  ])('does nothing when %s', (_, kernel) => {
    const open = captures(kernel);
    open.open('cell', 'message');
    open.close('cell');
  });
});
