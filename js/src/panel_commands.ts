import { Dialog, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { DisposableSet, type IDisposable } from '@lumino/disposable';

import { PanelCommandIDs, MODES } from './panel_command_ids';
import type { PanelHost } from './panel_host';
import type { Mode } from './server/frames';
import { agentIcon } from './views/agent_icon';
import { saveAs } from './views/download';
import { pressOnApproval } from './views/focus';
import type { Panel } from './views/ports';
import { modeWords } from './views/words';

type Command = readonly [id: string, options: CommandRegistry.ICommandOptions];

const NO_ARGUMENTS = { args: { type: 'object', properties: {} } } as const;

/** Register what a person can do with the panel. */
export function addPanelCommands(model: Panel, host: PanelHost): IDisposable {
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

function viewCommands(model: Panel, host: PanelHost): readonly Command[] {
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

function chatCommands(model: Panel, host: PanelHost): readonly Command[] {
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
        caption: trans.__('Takes back its cells; variables keep their values'),
        isEnabled: () => model.chat.state.run === '' && model.chat.turns.length > 0,
        execute: () => {
          const { chat } = model;
          const run = chat.turns.at(-1)?.runId;
          if (run !== undefined) {
            notebooks?.find(chat.state.notebook_path)?.undo(run);
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
          saveAs(await model.exportChat(id, 'markdown'), `${title || 'chat'}.md`);
        }
      }
    ]
  ];
}

function approvalCommands(model: Panel, host: PanelHost): readonly Command[] {
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
