import { ReactWidget } from '@jupyterlab/ui-components';
import type { IDisposable } from '@lumino/disposable';
import type { Message } from '@lumino/messaging';

import '../../style/pages.css';

interface Watched extends IDisposable {
  setVisible(isVisible: boolean): void;
}

/** A page as a widget; it looks for news only while it is seen. */
export abstract class PageWidget<Page extends Watched> extends ReactWidget {
  /**
   * @param page - Disposed of together with this.
   */
  constructor(protected readonly page: Page) {
    super();
    this.addClass('cw-panel');
    this.addClass('cw-page');
  }

  override dispose(): void {
    this.page.dispose();
    super.dispose();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.page.setVisible(true);
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    this.page.setVisible(this.isVisible);
  }

  protected override onBeforeHide(message: Message): void {
    this.page.setVisible(false);
    super.onBeforeHide(message);
  }

  protected override onBeforeDetach(message: Message): void {
    this.page.setVisible(false);
    super.onBeforeDetach(message);
  }
}
