import type { TranslationBundle } from '@jupyterlab/translation';

import type { AssistantRest } from '../../client/assistants_rest';
import type { Grouping, KeepingRest, Scope } from '../../client/keeping_rest';
import type { AssistantChange } from '../../ui/opening';
import { WatchedPage } from '../state';
import { AssistantList, type DraftStore } from './assistant_list';
import { LibraryList, MemoryList, ToolList, UsageList } from './kept_lists';

const POLL_MILLISECONDS = 2000;

export const PARTS = ['memory', 'library', 'usage', 'tools', 'assistants'] as const;

/** A part of the page. */
export type KeepingPart = (typeof PARTS)[number];

interface KeepingState {
  readonly part: KeepingPart;
}

interface KeepingPageParts {
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

export function partWords(part: KeepingPart, trans: TranslationBundle): string {
  const words: Record<KeepingPart, string> = {
    memory: trans.__('Memory'),
    library: trans.__('Library'),
    usage: trans.__('Usage'),
    tools: trans.__('Tools'),
    assistants: trans.__('Assistants')
  };
  return words[part];
}

export function scopeWords(scope: Scope, trans: TranslationBundle, folder = ''): string {
  if (scope === 'project' && folder !== '') {
    return trans.__('Project %1', folder);
  }
  const words: Record<Scope, string> = {
    user: trans.__('All projects'),
    project: trans.__('This project')
  };
  return words[scope];
}

export function groupingWords(by: Grouping, trans: TranslationBundle): string {
  const words: Record<Grouping, string> = {
    month: trans.__('Month'),
    model: trans.__('Model'),
    assistant: trans.__('Assistant'),
    chat: trans.__('Chat'),
    run: trans.__('Run')
  };
  return words[by];
}

/** What a row stands for that has no name of its own. */
export function namelessWords(by: Grouping, trans: TranslationBundle): string {
  const words: Record<Grouping, string> = {
    month: trans.__('Unknown'),
    model: trans.__('Unknown'),
    assistant: trans.__('No assistant'),
    chat: trans.__('No chat'),
    run: trans.__('Unknown')
  };
  return words[by];
}
