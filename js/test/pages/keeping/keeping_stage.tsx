/** Puts the page of what is kept on a page, with a small server behind it. */
import * as React from 'react';

import { act, cleanup, fireEvent, render, type RenderResult, screen } from '@testing-library/react';
import axe from 'axe-core';

import { AssistantRest } from '../../../src/client/assistants_rest';
import type { TextStore } from '../../../src/client/browser_store';
import { KeepingRest } from '../../../src/client/keeping_rest';
import { DraftStore } from '../../../src/pages/keeping/assistant_list';
import { KeepingPage, type KeepingPart } from '../../../src/pages/keeping/keeping_page';
import { KeepingPageView } from '../../../src/pages/keeping/keeping_widget';
import type { AssistantChange, Opener } from '../../../src/ui/opening';
import { FakeServer } from '../../fake_socket';
import { TRANS } from '../../panel/fakes';
import { Kept } from './kept';
import { KeptAssistants } from './kept_assistants';

export class KeepingStage {
  constructor() {
    this.kept.serve(this.server);
    this.assistants.serve(this.server);
  }

  readonly server = new FakeServer();
  readonly kept = new Kept();
  readonly assistants = new KeptAssistants();
  /** What the person opened elsewhere. */
  readonly opened: string[] = [];
  /** What others were told of assistants. */
  readonly told: AssistantChange[] = [];
  /** What the browser keeps. */
  readonly browser: TextStore = window.sessionStorage;
  /** The notebook that the person looks at. */
  notebook = 'work/a.ipynb';

  readonly opener: Opener = {
    run: run => this.opened.push(`run ${run}`),
    place: (place, anchor) =>
      place.startsWith('/') ? null : () => this.opened.push(`${place} ${anchor ?? ''}`)
  };

  page = this._newPage();

  /** Close the page and open it again, as another version or none may have left it. */
  reopen(): void {
    cleanup();
    this.page.dispose();
    this.page = this._newPage();
  }

  async show(part: KeepingPart): Promise<RenderResult> {
    const shown = render(<KeepingPageView page={this.page} trans={TRANS} opener={this.opener} />);
    await act(async () => {
      this.page.show(part);
      this.page.setVisible(true);
      await Promise.resolve();
    });
    return shown;
  }

  /** The body of the last such request; undefined: there was none. */
  sent(method: string, path: string): unknown {
    const made = this.server.requests.filter(
      asked => asked.method === method && asked.path === path
    );
    const body = made.at(-1)?.body ?? '';
    return body === '' ? undefined : JSON.parse(body);
  }

  dispose(): void {
    this.page.dispose();
    window.sessionStorage.clear();
  }

  private _newPage(): KeepingPage {
    return new KeepingPage({
      rest: new KeepingRest(this.server.settings),
      assistants: new AssistantRest(this.server.settings),
      notebook: () => this.notebook,
      drafts: new DraftStore(this.browser),
      onAssistant: change => this.told.push(change)
    });
  }
}

export async function press(name: string | RegExp): Promise<void> {
  fireEvent.click(await screen.findByRole('button', { name }));
}

export function write(field: HTMLElement, value: string): void {
  fireEvent.change(field, { target: { value } });
}

/** What axe finds that cannot be used. */
export async function findings(root: Element): Promise<string[]> {
  const { violations } = await axe.run(root, {
    rules: { 'color-contrast': { enabled: false }, region: { enabled: false } }
  });
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`);
}
