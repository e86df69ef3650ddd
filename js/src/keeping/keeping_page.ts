import { WatchedPage } from '../pages/watched_page';
import type { AssistantChange } from '../views/assistant_editor';
import { AssistantList } from './assistants/assistant_list';
import type { DraftStore } from './assistants/draft_store';
import type { AssistantRest } from './assistants/requests';
import { LibraryList } from './library_list';
import { MemoryList } from './memory_list';
import type { KeepingRest } from './requests';
import { ToolList } from './tool_list';
import { UsageList } from './usage_list';

const POLL_MILLISECONDS = 2000;

export const PARTS = ['memory', 'library', 'usage', 'tools', 'assistants'] as const;

/** A part of the page. */
export type KeepingPart = (typeof PARTS)[number];

export interface KeepingState {
  readonly part: KeepingPart;
}

export interface KeepingPageParts {
  /** Where all is kept. */
  readonly rest: KeepingRest;
  /** Where assistants are kept. */
  readonly assistants: AssistantRest;
  /** Path of the notebook that the person looks at; empty: none. */
  readonly notebook: () => string;
  /** What was typed about assistants before the page was closed. */
  readonly drafts: DraftStore;
  /** Told of each assistant that is changed here. */
  readonly onAssistant: (change: AssistantChange) => void;
}

/** The page of what is kept: which part is shown, and what is in each. */
export class KeepingPage extends WatchedPage<KeepingState> {
  constructor(parts: KeepingPageParts) {
    super({ part: 'memory' }, 'cellwright:keeping', POLL_MILLISECONDS);
    const { rest, assistants, notebook, drafts, onAssistant: onChange } = parts;
    this.memory = new MemoryList(rest, notebook);
    this.library = new LibraryList(rest);
    this.usage = new UsageList(rest);
    this.tools = new ToolList(rest, notebook);
    const written = { rest: assistants, kept: rest, notebook, drafts, onChange };
    this.assistants = new AssistantList(written);
  }

  readonly memory: MemoryList;
  readonly library: LibraryList;
  readonly usage: UsageList;
  readonly tools: ToolList;
  readonly assistants: AssistantList;

  show(part: KeepingPart): void {
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
