import type { Kernel, KernelMessage } from '@jupyterlab/services';

type Hook = (message: KernelMessage.IIOPubMessage) => boolean | PromiseLike<boolean>;

/** After a cell's end, how long its last messages may still be on their way to this page. */
const LATE_MILLISECONDS = 10_000;

/**
 * Lets widgets capture what a cell prints that the server runs (`with output:`, `interact`).
 *
 * They register a hook for the message that runs the cell. JupyterLab's connection knows hooks
 * only for messages of its own, so the list of those gets an entry that does nothing but call
 * hooks. The list is private: where it looks different, such widgets stay empty, and that is all.
 */
export class Captures {
  constructor(kernel: () => Kernel.IKernelConnection | null) {
    this._kernel = kernel;
  }

  open(cellId: string, messageId: string): void {
    const futures = futuresOf(this._kernel());
    if (messageId !== '' && futures?.has(messageId) === false) {
      const entry = new HookEntry(() => futures.delete(messageId));
      futures.set(messageId, entry);
      this._entries.get(cellId)?.dispose();
      this._entries.set(cellId, entry);
    }
  }

  /** The cell ended; the entry goes when the kernel's last word on it has come, or soon. */
  close(cellId: string): void {
    const entry = this._entries.get(cellId);
    this._entries.delete(cellId);
    if (entry !== undefined && !entry.isDisposed) {
      setTimeout(() => {
        entry.dispose();
      }, LATE_MILLISECONDS);
    }
  }

  dispose(): void {
    for (const entry of this._entries.values()) {
      entry.dispose();
    }
    this._entries.clear();
  }

  private readonly _entries = new Map<string, HookEntry>();
  private readonly _kernel: () => Kernel.IKernelConnection | null;
}

/** As much of a kernel future as the connection uses for hooks. */
export class HookEntry {
  constructor(remove: () => void) {
    this._remove = remove;
  }

  isDisposed = false;

  registerMessageHook(hook: Hook): void {
    this.removeMessageHook(hook);
    this._hooks.push(hook);
  }

  removeMessageHook(hook: Hook): void {
    this._hooks = this._hooks.filter(known => known !== hook);
  }

  /** The newest hook comes first; one that returns false keeps the message from the others. */
  async handleMsg(message: KernelMessage.IMessage): Promise<void> {
    if (message.channel !== 'iopub') {
      return;
    }
    const published = message as KernelMessage.IIOPubMessage;
    await this._callHooks(published);
    const content = published.content as { readonly execution_state?: unknown };
    if (published.header.msg_type === 'status' && content.execution_state === 'idle') {
      this.dispose();
    }
  }

  dispose(): void {
    if (!this.isDisposed) {
      this.isDisposed = true;
      this._hooks = [];
      this._remove();
    }
  }

  private async _callHooks(message: KernelMessage.IIOPubMessage): Promise<void> {
    for (const hook of [...this._hooks].reverse()) {
      try {
        if (!(await hook(message))) {
          return;
        }
      } catch (error) {
        // Somebody else's hook; the connection logs these, too, and goes on.
        console.error(error);
      }
    }
  }

  private _hooks: Hook[] = [];
  private readonly _remove: () => void;
}

function futuresOf(kernel: object | null): Map<string, unknown> | null {
  const futures: unknown = kernel === null ? null : Reflect.get(kernel, '_futures');
  return futures instanceof Map ? (futures as Map<string, unknown>) : null;
}
