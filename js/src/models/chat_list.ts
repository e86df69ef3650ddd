import { Signal, type ISignal } from '@lumino/signaling';

import type { ListedChat } from '../server/answers';
import type { Rest } from '../server/rest';
import type { ChatSummary } from './types';

type ListRest = Pick<Rest, 'branchChat' | 'changeChat' | 'chats' | 'deleteChat'>;

/** The chats that the server has, newest first, or those that a query finds. */
export class ChatList {
  constructor(rest: ListRest) {
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

  async rename(id: string, title: string): Promise<void> {
    await this._rest.changeChat(id, { title });
    await this.refresh();
  }

  async delete(id: string): Promise<void> {
    await this._rest.deleteChat(id);
    await this.refresh();
  }

  /** A new chat that goes on after a run of this one; its id. */
  async branch(id: string, run: string): Promise<string> {
    const branch = await this._rest.branchChat(id, run);
    await this.refresh();
    return branch.id;
  }

  private readonly _rest: ListRest;
  private readonly _changed = new Signal<this, readonly ChatSummary[]>(this);
  private _chats: readonly ChatSummary[] = [];
  private _query = '';
}

function summaryOf(chat: ListedChat): ChatSummary {
  const { id, notebook_path: notebookPath, runs, title, updated_at: updatedAt } = chat;
  return { id, title, notebookPath, updatedAt, runs, activity: activityOf(chat) };
}

function activityOf({ run = '', waits_for_answer: waits }: ListedChat): ChatSummary['activity'] {
  if (run === '') {
    return 'none';
  }
  return waits === true ? 'waiting_for_person' : 'running';
}
