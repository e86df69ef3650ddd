import type { JupyterFrontEnd } from '@jupyterlab/application';
import { CommandRegistry } from '@lumino/commands';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { PanelCommandIDs } from '../../src/command_ids';
import { CellwrightPanel } from '../../src/panel/panel';
import { PanelSession } from '../../src/panel/panel_session';
import { type PanelContext, PanelRequests } from '../../src/panel/requests';
import { PanelSettings } from '../../src/settings';
import * as events from '../chat/events';
import { FakeNotebook, FakeNotebooks } from '../chat/fake_notebooks';
import { chatState, FakeServer } from '../fake_socket';
import { TRANS } from './fakes';

let server: FakeServer;
let commands: CommandRegistry;
let notebooks: FakeNotebooks;
let notebook: FakeNotebook;
let session: PanelSession;
const show = vi.fn<PanelContext['show']>();

beforeEach(async () => {
  server = new FakeServer();
  commands = new CommandRegistry();
  notebook = new FakeNotebook('a.ipynb');
  notebooks = new FakeNotebooks(notebook);
  const chats = ['a', 'b'].map(name => ({ id: name, title: '', notebook_path: `${name}.ipynb` }));
  server.routes.set('GET chats', ({ query }) => {
    const about = query.get('notebook') ?? '';
    const rest = { updated_at: 1, runs: 1, run: '' };
    return chats
      .filter(({ notebook_path: path }) => about === '' || path === about)
      .map(chat => ({ ...chat, ...rest }));
  });
  for (const { id, notebook_path } of chats) {
    server.setChat(chatState(id, { notebook_path }));
    server.record(id, `run-${id}`, [
      events.started('x'),
      events.called('call'),
      events.cellAdded('cell', 'call'),
      events.ended('call'),
      events.finished()
    ]);
  }
  const { settings: serverSettings } = server;
  const app = { commands, serviceManager: { serverSettings } } as unknown as JupyterFrontEnd;
  const settings = new PanelSettings();
  session = new PanelSession(
    {
      parts: { app, settings, notebooks, trans: TRANS, assistantChanged: null },
      requests: new PanelRequests(),
      highlight: null,
      show
    },
    new CellwrightPanel(TRANS)
  );
  await shown('a');
});

afterEach(() => {
  session.dispose();
});

/** Wait until a chat is shown and all of it is there. */
function shown(id: string): Promise<void> {
  const follows = (): (string | undefined)[] => server.sent('follow').map(({ chat }) => chat);
  return expect.poll(follows).toContain(id);
}

it('asks about a cell in a chat of its notebook, whichever is shown', async () => {
  await commands.execute(PanelCommandIDs.open, { chat: 'b' });
  await session.say({ text: 'Fix the error in this cell.', mode: 'ask' }, true, 'a.ipynb');
  await expect.poll(() => server.sent('ask')).toHaveLength(1);
  expect(server.sent('ask')[0]?.chat).toBe('a');
});

it('goes to the Undo of the last run, and offers it only where its notebook is open', async () => {
  const isOffered = (): boolean => commands.isEnabled(PanelCommandIDs.undoRun);
  await expect.poll(isOffered).toBe(true);
  await commands.execute(PanelCommandIDs.undoRun);
  expect(show).toHaveBeenLastCalledWith('undo');
  notebooks.close(notebook);
  expect(isOffered()).toBe(false);
});

it('says why a chat was not exported', async () => {
  await expect.poll(() => commands.isEnabled(PanelCommandIDs.exportChat)).toBe(true);
  const refusal = { message: 'No room.', hint: 'Free some.' };
  server.routes.set('GET chats/a/export', () => Response.json(refusal, { status: 507 }));
  const exporting = commands.execute(PanelCommandIDs.exportChat);
  const dialog = (): string => document.querySelector('.jp-Dialog')?.textContent ?? '';
  await expect.poll(dialog).toContain('No room. Free some.');
  document.querySelector<HTMLButtonElement>('.jp-Dialog button')?.click();
  await exporting;
});
