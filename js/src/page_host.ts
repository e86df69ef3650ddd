import type { ILayoutRestorer, JupyterFrontEnd } from '@jupyterlab/application';
import { MainAreaWidget, WidgetTracker } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ReadonlyJSONObject, ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { DisposableSet, type IDisposable } from '@lumino/disposable';
import type { Widget } from '@lumino/widgets';

import type { PanelSettings } from './settings';
import { agentIcon } from './views/agent_icon';

export interface PageParts<Content extends Widget> {
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
export class PageHost<Content extends Widget> {
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
