import { Signal, type ISignal } from '@lumino/signaling';

import type { ListedChat } from '../server/answers';
import type { Rest } from '../server/rest';
import type { ChatSummary } from './types';

/** The chats that the server has, newest first, or those that a query finds. */
export class ChatList {
  constructor(rest: Pick<Rest, 'chats'>) {
    this._rest = rest;
  }

  get chats(): readonly ChatSummary[] {
    return this._chats;
  }

  get changed(): ISignal<this, readonly ChatSummary[]> {
    return this._changed;
  }

  /** List anew; a query searches titles, prompts and answers. */
  async refresh(query = this._query): Promise<void> {
    this._query = query;
    const listed = await this._rest.chats('', query);
    if (this._query === query) {
      this._chats = listed.map(summaryOf);
      this._changed.emit(this._chats);
    }
  }

  private readonly _rest: Pick<Rest, 'chats'>;
  private readonly _changed = new Signal<this, readonly ChatSummary[]>(this);
  private _chats: readonly ChatSummary[] = [];
  private _query = '';
}

function summaryOf(chat: ListedChat): ChatSummary {
  const { id, notebook_path: notebookPath, runs, title, updated_at: updatedAt } = chat;
  return { id, title, notebookPath, updatedAt, runs };
}
