/** Puts the panel on a page with fakes behind it. */
import * as React from 'react';

import { Signal } from '@lumino/signaling';
import { act, fireEvent, render, type RenderResult, screen } from '@testing-library/react';

import type { PageLink } from '../../src/panel/header';
import { PanelView, type PanelViewProps } from '../../src/panel/panel_view';
import { PanelRequests } from '../../src/panel/requests';
import { type TurnActions, TurnActionsProvider } from '../../src/panel/turn_actions';
import { type Choices, DEFAULTS } from '../../src/settings';
import type { AssistantChange, AssistantEditor, Opener } from '../../src/ui/opening';
import { FakeNotebook, FakeNotebooks, FakePanel, TRANS } from './fakes';

export const PATH = 'work/penguins.ipynb';

export class Stage {
  constructor(
    readonly panel: FakePanel = new FakePanel(),
    choices: Partial<Choices> = {}
  ) {
    this.settings = {
      choices: { ...DEFAULTS, ...choices },
      changed: new Signal(this)
    } as unknown as PanelViewProps['settings'];
  }

  readonly requests = new PanelRequests();
  readonly pages: PageLink[] = [];
  /** Places that the person opened. */
  readonly opened: string[] = [];
  /** Runs that the person wants to see. */
  readonly shownRuns: string[] = [];
  readonly opener: Opener = {
    run: run => {
      this.shownRuns.push(run);
    },
    place: place => () => {
      this.opened.push(place);
    }
  };
  /** What became of assistants elsewhere. */
  readonly assistantChanged = new Signal<this, AssistantChange>(this);
  /** What the person opened on the page of assistants. */
  readonly edited: string[] = [];
  /** Null: there is no such page. */
  editor: AssistantEditor | null = {
    changed: this.assistantChanged,
    list: notebook => this.edited.push(`all for ${notebook}`),
    edit: (name, notebook) => this.edited.push(`${name} for ${notebook}`)
  };
  readonly notebook = new FakeNotebook();
  readonly notebooks = new FakeNotebooks({ [PATH]: this.notebook });
  readonly settings: PanelViewProps['settings'];

  /** Draw the panel and wait for what it asks for at once. */
  async show(): Promise<RenderResult> {
    const shown = render(
      <PanelView
        panel={this.panel}
        notebooks={this.notebooks}
        settings={this.settings}
        requests={this.requests}
        pages={this.pages}
        opener={this.opener}
        editor={this.editor}
        trans={TRANS}
        highlight={null}
      />
    );
    await settle();
    return shown;
  }
}

/** Let promises and the next frame have their turn. */
export async function settle(): Promise<void> {
  await act(async () => {
    await new Promise(resolve => {
      setTimeout(resolve, 30);
    });
  });
}

/** Press the button of this name. */
export function press(name: string | RegExp): void {
  fireEvent.click(screen.getByRole('button', { name }));
}

const NOTHING = (): undefined => undefined;

export const ACTIONS: TurnActions = {
  canReveal: true,
  canUndo: true,
  canAnswer: true,
  notebookToOpen: '',
  waitingAsk: null,
  cancelAsk: NOTHING,
  watchCells: () => NOTHING,
  answer: NOTHING,
  preview: () => new Promise(NOTHING),
  endPreview: NOTHING,
  approvalProblem: '',
  acceptAll: NOTHING,
  reveal: NOTHING,
  highlight: NOTHING,
  findCell: () => null,
  undo: () => null,
  redo: () => null,
  keptSteps: () => Promise.resolve([]),
  undoVariables: () => Promise.resolve({ kind: 'kept', why: '' }),
  restartTo: () => Promise.resolve(null),
  putFilesBack: () => Promise.resolve({ kind: 'kept', why: '' }),
  retry: NOTHING,
  replace: NOTHING,
  branch: NOTHING,
  proceed: NOTHING,
  setUp: NOTHING,
  projectTexts: () => Promise.resolve([]),
  allowProjectText: () => Promise.resolve([])
};

/** Draw a part of an answer with what can be done about it. */
export function showPart(part: React.ReactNode, actions: Partial<TurnActions> = {}): RenderResult {
  return render(
    <TurnActionsProvider value={{ ...ACTIONS, ...actions }}>{part}</TurnActionsProvider>
  );
}
