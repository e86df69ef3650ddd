import { WatchedPage } from '../pages/watched_page';
import { LibraryList } from './library_list';
import { MemoryList } from './memory_list';
import type { KeepingRest } from './requests';
import { ToolList } from './tool_list';
import { UsageList } from './usage_list';

const POLL_MILLISECONDS = 2000;

export const PARTS = ['memory', 'library', 'usage', 'tools'] as const;

/** A part of the page. */
export type Part = (typeof PARTS)[number];

export interface KeepingState {
  readonly part: Part;
}

/** The page of what is kept: which part is shown, and what is in each. */
export class KeepingPage extends WatchedPage<KeepingState> {
  /**
   * @param rest - Where all is kept.
   * @param notebook - Path of the notebook that the person looks at; empty: none.
   */
  constructor(rest: KeepingRest, notebook: () => string = () => '') {
    super({ part: 'memory' }, 'cellwright:keeping', POLL_MILLISECONDS);
    this.memory = new MemoryList(rest, notebook);
    this.library = new LibraryList(rest);
    this.usage = new UsageList(rest);
    this.tools = new ToolList(rest);
  }

  readonly memory: MemoryList;
  readonly library: LibraryList;
  readonly usage: UsageList;
  readonly tools: ToolList;

  show(part: Part): void {
    this.set({ part });
    this.lookNow();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      for (const part of PARTS) {
        this[part].dispose();
      }
      super.dispose();
    }
  }

  protected look(): Promise<void> {
    return this[this.state.part].refresh();
  }
}
