import { nullTranslator } from '@jupyterlab/translation';

import { ChatMemory } from '../../src/chat/memory';
import { PanelModel } from '../../src/chat/session';
import { Rest } from '../../src/client/panel_rest';
import { ServerSocket } from '../../src/client/socket';
import { chatState, FakeServer } from '../fake_socket';
import { pass } from './chat_page';
import { cell, FakeNotebook, FakeNotebooks } from './fake_notebooks';
import { FakeStore } from './fake_store';

/** A cell of an agent as the routes tell of it. */
export function agentCell(id: string): Record<string, unknown> {
  const outputs = [{ output_type: 'stream', name: 'stdout', text: '2' }];
  return { cell_id: id, source: '1', cell_type: 'code', after: 'z', outputs, execution_count: 3 };
}

/** A page with a notebook, `a.ipynb`, and its chat, `c1`. */
export class NotebookPage {
  constructor() {
    this.server.routes.set('GET chats', () => this.listed);
    this.server.routes.set('GET notebooks/missing', () => this.missing);
    this.server.routes.set('GET runs/r1/cells', () => []);
    this.server.routes.set('POST runs/r1/fates', ({ body }) => {
      Object.assign(this.fates, (JSON.parse(body) as { fates: object }).fates);
      return { fates: this.fates };
    });
    this.setRun('', '');
  }

  readonly server = new FakeServer();
  private readonly _tabStore = new FakeStore();
  port = new FakeNotebook('a.ipynb');
  notebooks = new FakeNotebooks(this.port);
  panel = this._open();
  /** What the server lists for the notebook. */
  listed: object[] = [
    { id: 'c1', title: '', notebook_path: 'a.ipynb', updated_at: 1, runs: 1, run: '' }
  ];
  missing: object[] = [];
  readonly fates: Record<string, unknown> = {};

  setRun(run: string, driver = 'tab-1'): void {
    this.server.setChat(chatState('c1', { run, driver, notebook_path: 'a.ipynb' }));
  }

  /** The page goes and comes again; the notebook has only what was saved of it. */
  async reload(...saved: string[]): Promise<void> {
    this.leave();
    this.port.document = saved.map(id => cell(id));
    this.notebooks = new FakeNotebooks(this.port);
    await this.comeBack();
  }

  /** The page goes, and no notebook is open when it comes again. */
  leave(): void {
    this.panel.dispose();
    this.server.line.close();
    this.port = new FakeNotebook('a.ipynb', 'n-new');
    this.notebooks = new FakeNotebooks();
  }

  async comeBack(): Promise<void> {
    this.panel = this._open();
    await pass(0.01);
  }

  private _open(): PanelModel {
    const { settings } = this.server;
    return new PanelModel({
      socket: new ServerSocket({ settings, version: '0.1.0', tab: 'tab-1' }),
      rest: new Rest(settings),
      memory: new ChatMemory(this._tabStore, new FakeStore()),
      trans: nullTranslator.load('cellwright'),
      notebooks: this.notebooks
    });
  }
}
