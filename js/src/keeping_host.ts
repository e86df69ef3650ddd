import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import { Token } from '@lumino/coreutils';

import type { KeepingWidget } from './keeping/keeping_widget';
import { OPEN_KEEPING } from './keeping_command_id';
import type { NotebookRegistry } from './models/notebooks';
import { PageHost } from './page_host';
import { openerOf } from './page_opener';
import type { PanelSettings } from './settings';

export interface KeepingHostParts {
  readonly app: JupyterFrontEnd;
  readonly settings: PanelSettings;
  /** Null: there are no notebooks in this application. */
  readonly notebooks: NotebookRegistry | null;
  readonly translator: ITranslator | null;
  readonly trans: TranslationBundle;
}

const PARTS = ['memory', 'library', 'usage', 'tools'] as const;

/** Keeps the place of the page of memory, library, usage and tools. */
export class KeepingHost extends PageHost<KeepingWidget> {
  constructor({ app, settings, notebooks, translator, trans }: KeepingHostParts) {
    const server = app.serviceManager.serverSettings;
    super({
      ...{ app, settings, trans },
      command: OPEN_KEEPING,
      id: 'cellwright-keeping',
      name: 'keeping',
      title: trans.__('Memory'),
      label: trans.__('Memory, Library and Usage'),
      caption: trans.__('See and change what the agent remembers, looks up and has used'),
      properties: {
        part: {
          type: 'string',
          enum: [...PARTS],
          description: trans.__('The part of the page to show')
        }
      },
      load: async () => {
        const { KeepingWidget } = await import('./keeping/keeping_widget');
        const opener = openerOf(app, notebooks);
        const notebook = (): string => notebooks?.current?.path ?? '';
        return new KeepingWidget({ settings: server, translator, opener, notebook });
      },
      go: (content, args) => {
        const part = PARTS.find(known => known === args.part);
        if (part !== undefined) {
          content.go(part);
        }
      }
    });
  }
}

export const IKeepingHost = new Token<KeepingHost>(
  'cellwright:IKeepingHost',
  'Keeps the place of the page of memory, library, usage and tools of cellwright.'
);
