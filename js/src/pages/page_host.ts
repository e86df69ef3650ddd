import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { ITranslator, TranslationBundle } from '@jupyterlab/translation';
import { type ReadonlyJSONObject, type ReadonlyPartialJSONObject, Token } from '@lumino/coreutils';
import { DisposableSet, type IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';

import type { NotebookRegistry } from '../chat/notebooks';
import { OPEN_KEEPING, OPEN_RUNS, PanelCommandIDs } from '../command_ids';
import type { Highlight } from '../markdown/highlighting';
import type { PanelSettings } from '../settings';
import { agentIcon } from '../ui/agent_icon';
import type { AssistantChange } from '../ui/opening';
import type { KeepingWidget } from './keeping/keeping_widget';
import { openerOf } from './page_opener';
import type { RunsPlace } from './runs/runs_page';
import type { RunsWidget } from './runs/runs_widget';

interface PageParts<Content extends Widget> {
  readonly app: JupyterFrontEnd;
  readonly settings: PanelSettings;
  readonly trans: TranslationBundle;
  /** Id of the command that opens it. */
  readonly command: string;
  /** Id of the page among the widgets. */
  readonly id: string;
  /** What it is called in the saved layout. */
  readonly name: string;
  /** What its tab says. */
  readonly title: string;
  readonly label: string;
  readonly caption: string;
  /** The properties of the command's arguments. */
  readonly properties: ReadonlyJSONObject;
  readonly load: () => Promise<Content>;
  /** Lead the person to what the arguments name. */
  readonly go: (content: Content, args: ReadonlyPartialJSONObject) => void;
}

/** Keeps the place of a page in the main area; what fills it is loaded when it is first opened. */
class PageHost<Content extends Widget> {
  constructor(page: PageParts<Content>) {
    this._page = page;
    this._tracker = new WidgetTracker({ namespace: page.id });
  }

  /** Id of the command that opens it. */
  get command(): string {
    return this._page.command;
  }

  /** Where it stands in the palette and the launcher. */
  get category(): string {
    return this._page.trans.__('cellwright');
  }

  /** Do something for as long as cellwright is switched on. */
  whileEnabled(on: () => IDisposable): void {
    this._page.settings.whileEnabled(on);
  }

  /** Bring an open page back when JupyterLab is loaded again. */
  remember(restorer: ILayoutRestorer): void {
    const { command, name } = this._page;
    void restorer.restore(this._tracker, { command, name: () => name });
  }

  /** Offer the command until what is returned is disposed of; an open page is closed then. */
  begin(): IDisposable {
    const { app, command, label, caption, properties } = this._page;
    const shown = new DisposableSet();
    shown.add(
      app.commands.addCommand(command, {
        label,
        caption,
        icon: agentIcon,
        describedBy: { args: { type: 'object', properties } },
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
      this._page.app.shell.activateById(widget.id);
      this._page.go(widget.content, args);
    }
  }

  /** Null: cellwright was switched off meanwhile. */
  private async _make(owner: DisposableSet): Promise<MainAreaWidget<Content> | null> {
    const { app, id, title, load } = this._page;
    const content = await load();
    if (owner.isDisposed) {
      content.dispose();
      this._opening = null;
      return null;
    }
    const widget = new MainAreaWidget({ content });
    widget.id = id;
    widget.title.label = title;
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

  private readonly _page: PageParts<Content>;
  private readonly _tracker: WidgetTracker<MainAreaWidget<Content>>;
  private _opening: Promise<MainAreaWidget<Content> | null> | null = null;
}

type Plugin = JupyterFrontEndPlugin<void>;

/** A page with its host, as plugins see it. */
interface PluggedPage<Host> {
  /** What ids of its plugins begin with. */
  readonly id: string;
  /** What it is called in sentences, such as `page of runs`. */
  readonly words: string;
  readonly host: Token<Host>;
}

/** The page where there is a main area to put it in, and its lines in the palette and launcher. */
export function pagePlugins<Content extends Widget, Host extends PageHost<Content>>(
  page: PluggedPage<Host>
): readonly Plugin[] {
  return [inMainArea(page), inPalette(page), inLauncher(page)];
}

function inMainArea<Content extends Widget, Host extends PageHost<Content>>(
  page: PluggedPage<Host>
): Plugin {
  return {
    id: page.id,
    description: `The ${page.words}.`,
    autoStart: true,
    requires: [page.host],
    optional: [ILabShell, ILayoutRestorer],
    activate: (
      _app: JupyterFrontEnd,
      host: Host,
      shell: ILabShell | null,
      restorer: ILayoutRestorer | null
    ): void => {
      if (shell === null) {
        return;
      }
      host.whileEnabled(() => host.begin());
      if (restorer !== null) {
        host.remember(restorer);
      }
    }
  };
}

function inPalette<Content extends Widget, Host extends PageHost<Content>>(
  page: PluggedPage<Host>
): Plugin {
  return {
    id: `${page.id}-palette`,
    description: `Lists the ${page.words} in the palette.`,
    autoStart: true,
    requires: [page.host, ICommandPalette],
    activate: (_app: JupyterFrontEnd, host: Host, palette: ICommandPalette): void => {
      const { command, category } = host;
      host.whileEnabled(() => palette.addItem({ command, category }));
    }
  };
}

function inLauncher<Content extends Widget, Host extends PageHost<Content>>(
  page: PluggedPage<Host>
): Plugin {
  return {
    id: `${page.id}-launcher`,
    description: `Puts the ${page.words} into the launcher.`,
    autoStart: true,
    requires: [page.host, ILauncher],
    activate: (_app: JupyterFrontEnd, host: Host, launcher: ILauncher): void => {
      const { command, category } = host;
      host.whileEnabled(() => launcher.add({ command, category }));
    }
  };
}

interface KeepingHostParts {
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

interface RunsHostParts {
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
