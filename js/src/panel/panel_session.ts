import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Dialog, showDialog, showErrorMessage } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { DisposableDelegate, DisposableSet, type IDisposable } from '@lumino/disposable';

import { openPanel, type PanelModel } from '../chat/session';
import type { Draft } from '../chat/types';
import { complaintOf } from '../client/problems';
import { MODES, OPEN_KEEPING, OPEN_RUNS, PanelCommandIDs } from '../command_ids';
import { openerOf } from '../pages/page_opener';
import { agentIcon } from '../ui/agent_icon';
import type { IconName } from '../ui/button';
import { saveAs } from '../ui/copy_and_save';
import { pressOnApproval, pressUndo } from '../ui/focus';
import type { AssistantEditor } from '../ui/opening';
import { modeWords } from '../ui/words';
import type { Mode } from '../wire/generated';
import type { PageLink } from './header';
import type { CellwrightPanel } from './panel';
import type { Panel } from './ports';
import type { PanelContext } from './requests';
import { changingCalls } from './turn_undo';

type Command = readonly [id: string, options: CommandRegistry.ICommandOptions];

const NO_ARGUMENTS = { args: { type: 'object', properties: {} } } as const;

/** Register what a person can do with the panel. */
function addPanelCommands(model: Panel, host: PanelContext): IDisposable {
  const { app, trans } = host.parts;
  const added = new DisposableSet();
  const commands = [
    ...viewCommands(model, host),
    ...chatCommands(model, host),
    ...approvalCommands(model, host)
  ];
  for (const [id, options] of commands) {
    added.add(app.commands.addCommand(id, { describedBy: NO_ARGUMENTS, ...options }));
  }
  added.add(app.commands.addCommand(PanelCommandIDs.setMode, modeCommand(model, trans)));
  return added;
}

function viewCommands(model: Panel, host: PanelContext): readonly Command[] {
  const { trans } = host.parts;
  return [
    [
      PanelCommandIDs.open,
      {
        label: trans.__('Ask the Agent'),
        caption: trans.__('Show the panel and go to its prompt'),
        icon: agentIcon,
        describedBy: {
          args: {
            type: 'object',
            properties: {
              chat: { type: 'string', description: trans.__('The chat to show') }
            }
          }
        },
        execute: ({ chat }) => {
          if (typeof chat === 'string') {
            model.openChat(chat);
          }
          host.show('compose');
        }
      }
    ],
    [
      PanelCommandIDs.sessions,
      {
        label: trans.__('Chats with the Agent'),
        execute: () => {
          host.show('sessions');
        }
      }
    ],
    [
      PanelCommandIDs.setUp,
      {
        label: trans.__('Model Settings of the Agent'),
        execute: () => {
          host.show('service');
        }
      }
    ]
  ];
}

function chatCommands(model: Panel, host: PanelContext): readonly Command[] {
  const { notebooks, trans } = host.parts;
  return [
    [
      PanelCommandIDs.newChat,
      {
        label: trans.__('New Chat with the Agent'),
        execute: () => {
          model.newChat();
          host.show('compose');
        }
      }
    ],
    [
      PanelCommandIDs.stop,
      {
        label: trans.__('Stop the Agent'),
        isEnabled: () => model.chat.state.run !== '',
        execute: () => {
          model.chat.stop();
        }
      }
    ],
    [
      PanelCommandIDs.undoRun,
      {
        label: trans.__('Undo the Last Run of the Agent'),
        caption: trans.__('Goes to its Undo first; undoes when that has the focus'),
        isEnabled: () => {
          const { state, turns } = model.chat;
          const port = notebooks?.find(state.notebook_path);
          const hasChanged = turns.some(turn => changingCalls(turn).length > 0);
          return state.run === '' && hasChanged && port?.editable === true;
        },
        execute: () => {
          if (!pressUndo()) {
            host.show('undo');
          }
        }
      }
    ],
    [
      PanelCommandIDs.exportChat,
      {
        label: trans.__('Export the Chat with the Agent'),
        isEnabled: () => model.chat.id !== '',
        execute: async () => {
          const { id, title } = model.chat.state;
          try {
            saveAs(await model.rest.exportChat(id, 'markdown'), `${title || 'chat'}.md`);
          } catch (error) {
            const command = trans.__('Export the Chat with the Agent');
            await showErrorMessage(command, complaintOf(error));
          }
        }
      }
    ]
  ];
}

function approvalCommands(model: Panel, host: PanelContext): readonly Command[] {
  const { trans } = host.parts;
  const isAsked = (): boolean => model.chat.state.approval !== '';
  const press = (key: 'Enter' | 'Escape') => () => {
    if (!pressOnApproval(key)) {
      host.show('approval');
    }
  };
  return [
    [
      PanelCommandIDs.approve,
      {
        label: trans.__('Approve What the Agent Asks'),
        caption: trans.__('Goes to the question first; approves when it has the focus'),
        isEnabled: isAsked,
        execute: press('Enter')
      }
    ],
    [
      PanelCommandIDs.reject,
      {
        label: trans.__('Reject What the Agent Asks'),
        caption: trans.__('Goes to the question first; rejects when it has the focus'),
        isEnabled: isAsked,
        execute: press('Escape')
      }
    ]
  ];
}

function modeCommand(model: Panel, trans: TranslationBundle): CommandRegistry.ICommandOptions {
  return {
    label: args => {
      const mode = modeOf(args);
      return mode === null
        ? trans.__('Set the Mode of the Agent')
        : trans.__('Agent Mode: %1', modeWords(mode, trans).name);
    },
    caption: args => {
      const mode = modeOf(args);
      return mode === null ? '' : modeWords(mode, trans).description;
    },
    describedBy: {
      args: {
        type: 'object',
        properties: { mode: { type: 'string', enum: [...MODES] } },
        required: ['mode']
      }
    },
    isEnabled: args => {
      const mode = modeOf(args);
      return mode !== null && model.modes.includes(mode);
    },
    isToggled: args => modeOf(args) === model.modeOf(model.chat),
    execute: async args => {
      const mode = modeOf(args);
      if (mode !== null && (mode !== 'auto' || (await confirmsAuto(trans)))) {
        model.chat.composer.setMode(mode);
      }
    }
  };
}

function modeOf(args: ReadonlyPartialJSONObject): Mode | null {
  return MODES.find(mode => mode === args.mode) ?? null;
}

/** Content of a page can call commands: Auto needs a second, plain yes. */
async function confirmsAuto(trans: TranslationBundle): Promise<boolean> {
  const { button } = await showDialog({
    title: trans.__('Run code without asking?'),
    body: trans.__('In Auto the agent changes cells and runs code without asking you.'),
    buttons: [
      Dialog.cancelButton({ label: trans.__('Cancel') }),
      Dialog.warnButton({ label: trans.__('Use Auto') })
    ]
  });
  return button.accept;
}

/** The panel while it is on: its model, its commands, and what keeps them in step. */
export class PanelSession implements IDisposable {
  constructor(host: PanelContext, widget: CellwrightPanel) {
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

  /**
   * Put words into the composer of the chat that is shown, and send them if asked to.
   *
   * @param notebook Path of the notebook they are about: a chat of that one is shown first.
   */
  async say(draft: Partial<Draft>, send = false, notebook?: string): Promise<void> {
    this._host.show('compose');
    if (notebook !== undefined) {
      await this._model.showChatOf(notebook);
    }
    const { chat } = this._model;
    const { composer } = chat;
    const mode = this._model.modeOf(chat);
    const whole = { text: '', context: [], model: composer.chosenModel, mode, ...draft };
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

  private readonly _host: PanelContext;
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
function editorOf({ parts }: PanelContext): AssistantEditor | null {
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
function followMode(model: PanelModel, host: PanelContext): IDisposable {
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
  const look = (): void => {
    widget.setAttention(model.isAsking);
  };
  model.isAskingChanged.connect(look);
  look();
  return new DisposableDelegate(() => {
    model.isAskingChanged.disconnect(look);
  });
}
