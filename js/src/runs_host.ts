import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import { type ReadonlyPartialJSONObject, Token } from '@lumino/coreutils';

import type { Highlight } from './markdown/highlighting';
import { PageHost } from './page_host';
import { PanelCommandIDs } from './panel_command_ids';
import type { RunsPlace } from './runs/runs_page';
import type { RunsWidget } from './runs/runs_widget';
import { OPEN_RUNS } from './runs_command_id';
import type { PanelSettings } from './settings';

export interface RunsHostParts {
  readonly app: JupyterFrontEnd;
  readonly settings: PanelSettings;
  readonly rendermime: IRenderMimeRegistry | null;
  readonly highlight: Highlight | null;
  readonly translator: ITranslator | null;
  readonly trans: TranslationBundle;
}

/** Keeps the place of the page of runs. */
export class RunsHost extends PageHost<RunsWidget> {
  constructor({ app, settings, rendermime, highlight, translator, trans }: RunsHostParts) {
    const server = app.serviceManager.serverSettings;
    super({
      ...{ app, settings, trans },
      command: OPEN_RUNS,
      id: 'cellwright-runs',
      name: 'runs',
      title: trans.__('Runs'),
      label: trans.__('Runs and Benchmarks'),
      caption: trans.__('Look at recorded runs and at results of benchmarks'),
      properties: {
        run: { type: 'string', description: trans.__('A recorded run to show') },
        result: { type: 'string', description: trans.__('The path of a result to show') }
      },
      load: async () => {
        const { RunsWidget } = await import('./runs/runs_widget');
        const openChat = (chat: string): void => {
          void app.commands.execute(PanelCommandIDs.open, { chat });
        };
        return new RunsWidget({ settings: server, rendermime, highlight, translator, openChat });
      },
      go: (content, args) => {
        const place = placeOf(args);
        if (place !== null) {
          content.go(place);
        }
      }
    });
  }
}

export const IRunsHost = new Token<RunsHost>(
  'cellwright:IRunsHost',
  'Keeps the place of the page of runs of cellwright.'
);

function placeOf({ run, result }: ReadonlyPartialJSONObject): RunsPlace | null {
  if (typeof run === 'string') {
    return { kind: 'run', run };
  }
  return typeof result === 'string' ? { kind: 'result', result } : null;
}
