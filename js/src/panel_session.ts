import type { JupyterFrontEnd } from '@jupyterlab/application';
import { DisposableDelegate, DisposableSet, type IDisposable } from '@lumino/disposable';

import { OPEN_KEEPING } from './keeping_command_id';
import { openPanel } from './models/open';
import type { PanelModel } from './models/session';
import type { Draft } from './models/types';
import { openerOf } from './page_opener';
import type { CellwrightPanel } from './panel';
import { addPanelCommands } from './panel_commands';
import type { PanelHost } from './panel_host';
import { OPEN_RUNS } from './runs_command_id';
import type { AssistantEditor } from './views/assistant_editor';
import type { PageLink } from './views/header';
import type { IconName } from './views/icon_paths';

/** The panel while it is on: its model, its commands, and what keeps them in step. */
export class PanelSession implements IDisposable {
  constructor(host: PanelHost, widget: CellwrightPanel) {
    const { app, notebooks, settings, trans } = host.parts;
    this._host = host;
    this._model = openPanel({ settings: app.serviceManager.serverSettings, notebooks, trans });
    const { highlight, requests } = host;
    const pages = pageLinks(app);
    const links = { pages, opener: openerOf(app, notebooks, trans), editor: editorOf(host) };
    widget.fill({ panel: this._model, notebooks, settings, requests, trans, highlight, ...links });
    this._parts = DisposableSet.from([
      this._model,
      followMode(this._model, host),
      followAttention(this._model, widget),
      addPanelCommands(this._model, host)
    ]);
  }

  get isDisposed(): boolean {
    return this._parts.isDisposed;
  }

  dispose(): void {
    this._parts.dispose();
  }

  /** Put words into the composer of the chat that is shown, and send them if asked to. */
  say(draft: Partial<Draft>, send: boolean): void {
    const { chat } = this._model;
    const { composer } = chat;
    const mode = this._model.modeOf(chat);
    const whole = { text: '', context: [], model: composer.chosenModel, mode, ...draft };
    this._host.show('compose');
    // Auto asks nothing more, so there the person's own Enter sends it.
    if (send && whole.text !== '' && whole.mode !== 'auto') {
      chat.ask(whole);
      return;
    }
    composer.setText([composer.text, whole.text].filter(text => text !== '').join('\n'));
    whole.context.forEach(item => {
      composer.addContext(item);
    });
  }

  private readonly _host: PanelHost;
  private readonly _model: PanelModel;
  private readonly _parts: DisposableSet;
}

/** The pages that there are in this application. */
function pageLinks({ commands }: JupyterFrontEnd): readonly PageLink[] {
  const icons: readonly (readonly [command: string, icon: IconName])[] = [
    [OPEN_RUNS, 'list'],
    [OPEN_KEEPING, 'book']
  ];
  return icons
    .filter(([command]) => commands.hasCommand(command))
    .map(([command, icon]) => ({
      key: command,
      label: commands.label(command),
      icon,
      open: () => {
        void commands.execute(command);
      }
    }));
}

/** Null: there is no page for assistants in this application. */
function editorOf({ parts }: PanelHost): AssistantEditor | null {
  const { app, assistantChanged } = parts;
  const { commands } = app;
  if (assistantChanged === null || !commands.hasCommand(OPEN_KEEPING)) {
    return null;
  }
  const open = (notebook: string, assistant?: string): void => {
    const goal = { part: 'assistants', notebook, ...(assistant !== undefined && { assistant }) };
    void commands.execute(OPEN_KEEPING, goal);
  };
  return {
    changed: assistantChanged,
    list: open,
    edit: (name, notebook) => {
      open(notebook, name);
    }
  };
}

/** New chats start in the mode of the settings. */
function followMode(model: PanelModel, host: PanelHost): IDisposable {
  const { settings } = host.parts;
  const follow = (): void => {
    model.setPreferredMode(settings.choices.mode);
  };
  settings.changed.connect(follow);
  follow();
  return new DisposableDelegate(() => {
    settings.changed.disconnect(follow);
  });
}

/** The panel's tab shows that the person is needed, also while the panel is hidden. */
function followAttention(model: PanelModel, widget: CellwrightPanel): IDisposable {
  let { chat } = model;
  const look = (): void => {
    widget.setAttention(chat.state.phase === 'approval' || chat.state.phase === 'input');
  };
  const change = (): void => {
    chat.changed.disconnect(look);
    chat = model.chat;
    chat.changed.connect(look);
    look();
  };
  model.chatChanged.connect(change);
  change();
  return new DisposableDelegate(() => {
    model.chatChanged.disconnect(change);
    chat.changed.disconnect(look);
  });
}
