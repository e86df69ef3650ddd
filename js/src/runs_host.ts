import type { ILayoutRestorer, JupyterFrontEnd } from '@jupyterlab/application';
import { MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import { type ReadonlyPartialJSONObject, Token } from '@lumino/coreutils';
import { DisposableSet, type IDisposable } from '@lumino/disposable';

import type { Highlight } from './markdown/highlighting';
import type { Place } from './runs/runs_page';
import type { RunsWidget } from './runs/runs_widget';
import { OPEN_RUNS } from './runs_command_id';
import type { PanelSettings } from './settings';
import { agentIcon } from './views/agent_icon';

export interface RunsHostParts {
  readonly app: JupyterFrontEnd;
  readonly settings: PanelSettings;
  readonly rendermime: IRenderMimeRegistry | null;
  readonly highlight: Highlight | null;
  readonly translator: ITranslator | null;
  readonly trans: TranslationBundle;
}

type Opened = MainAreaWidget<RunsWidget>;

/** Keeps the place of the page of runs; what fills it is loaded when it is first opened. */
export class RunsHost {
  constructor(readonly parts: RunsHostParts) {}

  /** Bring an open page back when JupyterLab is loaded again. */
  remember(restorer: ILayoutRestorer): void {
    void restorer.restore(this._tracker, { command: OPEN_RUNS, name: () => 'runs' });
  }

  /** Offer the command until what is returned is disposed of; an open page is closed then. */
  begin(): IDisposable {
    const { app, trans } = this.parts;
    const shown = new DisposableSet();
    shown.add(
      app.commands.addCommand(OPEN_RUNS, {
        label: trans.__('Runs and Benchmarks'),
        caption: trans.__('Look at recorded runs and at results of benchmarks'),
        icon: agentIcon,
        describedBy: {
          args: {
            type: 'object',
            properties: {
              run: { type: 'string', description: trans.__('A recorded run to show') },
              result: { type: 'string', description: trans.__('The path of a result to show') }
            }
          }
        },
        execute: args => this._open(args, shown)
      })
    );
    return shown;
  }

  private async _open(args: ReadonlyPartialJSONObject, owner: DisposableSet): Promise<void> {
    this._opening ??= this._make(owner).catch((error: unknown) => {
      this._opening = null; // the next try may load what this one could not
      throw error;
    });
    const widget = await this._opening;
    if (widget !== null) {
      this.parts.app.shell.activateById(widget.id);
      const place = placeOf(args);
      if (place !== null) {
        widget.content.go(place);
      }
    }
  }

  /** Null: cellwright was switched off meanwhile. */
  private async _make(owner: DisposableSet): Promise<Opened | null> {
    const { app, rendermime, highlight, translator, trans } = this.parts;
    const { RunsWidget } = await import('./runs/runs_widget');
    if (owner.isDisposed) {
      this._opening = null;
      return null;
    }
    const settings = app.serviceManager.serverSettings;
    const content = new RunsWidget({ settings, rendermime, highlight, translator });
    const widget: Opened = new MainAreaWidget({ content });
    widget.id = 'cellwright-runs';
    widget.title.label = trans.__('Runs');
    widget.title.icon = agentIcon;
    widget.title.closable = true;
    widget.toolbar.hide();
    owner.add(widget);
    widget.disposed.connect(() => {
      this._opening = null;
    });
    app.shell.add(widget, 'main');
    await this._tracker.add(widget);
    return widget;
  }

  private readonly _tracker = new WidgetTracker<Opened>({ namespace: 'cellwright-runs' });
  private _opening: Promise<Opened | null> | null = null;
}

export const IRunsHost = new Token<RunsHost>(
  'cellwright:IRunsHost',
  'Keeps the place of the page of runs of cellwright.'
);

function placeOf({ run, result }: ReadonlyPartialJSONObject): Place | null {
  if (typeof run === 'string') {
    return { kind: 'run', run };
  }
  return typeof result === 'string' ? { kind: 'result', result } : null;
}
