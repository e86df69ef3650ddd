import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import { Token } from '@lumino/coreutils';
import { type ISignal, Signal } from '@lumino/signaling';

import type { KeepingWidget } from './keeping/keeping_widget';
import { OPEN_KEEPING } from './keeping_command_id';
import type { NotebookRegistry } from './models/notebooks';
import { PageHost } from './page_host';
import { openerOf } from './page_opener';
import type { PanelSettings } from './settings';
import type { AssistantChange } from './views/assistant_editor';

export interface KeepingHostParts {
  readonly app: JupyterFrontEnd;
  readonly settings: PanelSettings;
  /** Null: there are no notebooks in this application. */
  readonly notebooks: NotebookRegistry | null;
  readonly translator: ITranslator | null;
  readonly trans: TranslationBundle;
}

const PARTS = ['memory', 'library', 'usage', 'tools', 'assistants'] as const;

/** Keeps the place of the page of memory, library, usage and tools. */
export class KeepingHost extends PageHost<KeepingWidget> {
  constructor({ app, settings, notebooks, translator, trans }: KeepingHostParts) {
    const server = app.serviceManager.serverSettings;
    super({
      ...{ app, settings, trans },
      command: OPEN_KEEPING,
      id: 'cellwright-keeping',
      name: 'keeping',
      title: trans.__('Agent'),
      label: trans.__('Memory, Library and Usage'),
      caption: trans.__('See and change what the agent remembers, looks up and has used'),
      properties: {
        part: {
          type: 'string',
          enum: [...PARTS],
          description: trans.__('The part of the page to show')
        },
        assistant: {
          type: 'string',
          description: trans.__('The assistant to change; empty: a new one')
        },
        notebook: {
          type: 'string',
          description: trans.__('Path of the notebook whose assistants are meant')
        }
      },
      load: async () => {
        const { KeepingWidget } = await import('./keeping/keeping_widget');
        const opener = openerOf(app, notebooks, trans);
        const notebook = (): string => notebooks?.current?.path ?? '';
        const onAssistant = (change: AssistantChange): void => {
          this._assistantChanged.emit(change);
        };
        return new KeepingWidget({ settings: server, translator, opener, notebook, onAssistant });
      },
      go: (content, args) => {
        const part = PARTS.find(known => known === args.part);
        if (part !== undefined) {
          content.go({ part, notebook: textIn(args.notebook), assistant: textIn(args.assistant) });
        }
      }
    });
  }

  /** An assistant was written, changed or deleted on the page. */
  get assistantChanged(): ISignal<this, AssistantChange> {
    return this._assistantChanged;
  }

  private readonly _assistantChanged = new Signal<this, AssistantChange>(this);
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export const IKeepingHost = new Token<KeepingHost>(
  'cellwright:IKeepingHost',
  'Keeps the place of the page of memory, library, usage and tools of cellwright.'
);
