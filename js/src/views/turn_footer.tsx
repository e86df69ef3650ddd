import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

import { formatFigures } from '../models/figures';
import type { UndoResult } from '../models/notebooks';
import type { Turn } from '../models/types';
import { IconButton } from './button';
import { CopyButton } from './copy_button';
import { Icon } from './icon';
import { Menu, type MenuEntry } from './menu';
import { type Opener, useOpener } from './opening';
import { useTrans } from './scope';
import { useTurnActions } from './turn_actions';
import { undoWords } from './undo_words';

/** What a turn took, and what can be done with it afterwards. */
export function TurnFooter({ turn }: { turn: Turn }) {
  const trans = useTrans();
  const actions = useTurnActions();
  const { run: openRun } = useOpener();
  const [outcome, setOutcome] = React.useState<UndoResult | null>(null);
  const [isUndone, setUndone] = React.useState(false);
  const changedCells = turn.blocks.some(
    block => block.kind === 'tool' && block.cellIds.length > 0 && block.risk !== 'read'
  );
  const undo = (): void => {
    const done = isUndone ? actions.redo(turn.runId) : actions.undo(turn.runId);
    setOutcome(done);
    setUndone(done !== null && !isUndone);
  };
  return (
    <footer className="cw-footer">
      <div className="cw-footer-line">
        <span className="cw-figures" title={turn.model}>
          {formatFigures(turn, trans)}
        </span>
        <span className="cw-footer-actions">
          <CopyButton text={() => answerText(turn)} label={trans.__('Copy answer')} />
          {turn.supersededBy === '' && (
            <IconButton
              icon="retry"
              label={trans.__('Ask again: another answer in place of this one')}
              onClick={() => {
                actions.replace(turn, turn.prompt);
              }}
            />
          )}
          {changedCells && (
            <IconButton
              icon={isUndone ? 'redo' : 'undo'}
              label={
                isUndone
                  ? trans.__('Redo run')
                  : trans.__('Undo run: takes back its cells; variables keep their values')
              }
              disabled={!actions.canUndo}
              onClick={undo}
            />
          )}
          <Menu
            label={trans.__('More for this answer')}
            className="cw-icon-button"
            side="above"
            end
            entries={[
              {
                key: 'branch',
                icon: 'branch',
                label: trans.__('Branch from here'),
                description: trans.__('A new chat that knows what was said until here'),
                onChoose: () => {
                  actions.branch(turn);
                }
              },
              ...(openRun === null ? [] : [runEntry(turn, openRun, trans)])
            ]}
          >
            <Icon name="more" />
          </Menu>
        </span>
      </div>
      {outcome !== null && (
        <p className="cw-muted" role="status">
          {undoWords(outcome, isUndone, trans)}
        </p>
      )}
    </footer>
  );
}

function runEntry(
  { runId }: Turn,
  openRun: NonNullable<Opener['run']>,
  trans: TranslationBundle
): MenuEntry {
  return {
    key: 'run',
    icon: 'list',
    label: trans.__('Show run'),
    description: trans.__('Each message and cell of it, on the page of runs'),
    onChoose: () => {
      openRun(runId);
    }
  };
}

function answerText(turn: Turn): string {
  return turn.blocks
    .flatMap(block => (block.kind === 'text' ? [block.text] : []))
    .join('\n\n')
    .trim();
}
