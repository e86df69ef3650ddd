/** What a call would do, shown whole before the person allows it. */
import type { TranslationBundle } from '@jupyterlab/translation';
import * as React from 'react';

import type { ToolCard } from '../chat/types';
import { diffLines } from '../notebook/line_diff';
import { Icon } from '../ui/button';
import { CodeBlock } from '../ui/code_block';
import { useTrans } from '../ui/hooks';
import { spelledOut } from '../ui/spelled_out';
import { cardTitle } from '../ui/words';
import type { NamedCell } from '../wire/generated';
import { type TurnActions, useTurnActions } from './turn_actions';

/** What a call does to the notebook. */
type Deed =
  | 'run'
  | 'run_existing'
  | 'edit'
  | 'edit_and_run'
  | 'add'
  | 'delete'
  | 'move'
  | 'install'
  | 'other';

function deedOf({ given, name }: Pick<ToolCard, 'given' | 'name'>): Deed {
  switch (name) {
    case 'run_cell':
    case 'run_scratch':
      return 'run';
    case 'run_existing_cell':
      return 'run_existing';
    case 'edit_cell':
      return given.run === true ? 'edit_and_run' : 'edit';
    case 'add_cell':
      return 'add';
    case 'arrange_cell':
      return given.action === 'delete' ? 'delete' : 'move';
    case 'install_package':
      return 'install';
    default:
      return 'other';
  }
}

/** Whether the kernel would run code of ours for it, which can be tried before. */
export function codeToRun(card: ToolCard): boolean {
  return ['run', 'run_existing', 'edit_and_run'].includes(deedOf(card));
}

/** What the button says that allows it. */
export function approveWords(card: ToolCard, trans: TranslationBundle): string {
  const words: Record<Deed, string> = {
    run: trans.__('Approve'),
    run_existing: trans.__('Approve'),
    edit: trans.__('Accept'),
    edit_and_run: trans.__('Accept and run'),
    add: trans.__('Insert cell'),
    delete: trans.__('Delete cell'),
    move: trans.__('Move cell'),
    install: trans.__('Install'),
    other: trans.__('Approve')
  };
  return words[deedOf(card)];
}

/** The cell, the change and the code that a call asks for. */
export function AskedCall({ card }: { card: ToolCard }) {
  const trans = useTrans();
  const actions = useTurnActions();
  const { target, isGone } = useAskedCell(card);
  const isAsking = card.status === 'asking';
  const marked = isAsking ? (target?.cell_id ?? '') : '';
  React.useEffect(() => {
    if (marked === '') {
      return;
    }
    actions.highlight(marked, true);
    return () => {
      actions.highlight(marked, false);
    };
  }, [actions, marked]);
  return (
    <>
      {isGone && (
        <p role="status">{trans.__('This cell is gone: it was deleted after the agent asked.')}</p>
      )}
      {target !== null && !isGone && <CellLink cell={target} isMarked={isAsking} />}
      <AskedChange card={card} target={target} follows={namedBy(card, 'after', actions)} />
    </>
  );
}

interface AskedCell {
  /** The cell that a call changes, with the number it has now; null: none that is known. */
  readonly target: NamedCell | null;
  /** The person deleted it while they were asked. */
  readonly isGone: boolean;
  /** What the call does, without a number that another cell has now. */
  readonly title: string;
}

/** The cell that the person is asked about, as the notebook has it. */
export function useAskedCell(card: ToolCard): AskedCell {
  const trans = useTrans();
  const actions = useTurnActions();
  const isAsking = card.status === 'asking';
  const [, lookAgain] = React.useReducer((count: number) => count + 1, 0);
  React.useEffect(
    () => (isAsking ? actions.watchCells(lookAgain) : undefined),
    [actions, isAsking]
  );
  const named = namedBy(card, 'cell_id', actions);
  // Elsewhere the document may lack what the tab that drives has drawn.
  if (named === null || !isAsking || !actions.canReveal || !actions.canAnswer) {
    return { target: named, isGone: false, title: cardTitle(card, trans) };
  }
  const now = actions.findCell(named.cell_id);
  const isSame = now !== null && cellName(now, trans) === cellName(named, trans);
  return {
    target: now === null ? named : { ...now, source: named.source },
    isGone: now === null,
    title: cardTitle(isSame ? card : { name: card.name, label: card.name }, trans)
  };
}

interface AskedChangeProps {
  readonly card: ToolCard;
  /** The cell that is changed; null: none that is known. */
  readonly target: NamedCell | null;
  readonly follows: NamedCell | null;
}

function AskedChange({ card, target, follows }: AskedChangeProps) {
  const trans = useTrans();
  const deed = deedOf(card);
  const isCode = card.language === 'python';
  switch (deed) {
    case 'edit':
    case 'edit_and_run':
      return <CodeDiff before={target?.source ?? ''} after={card.code} />;
    case 'add':
      return (
        <>
          <AskedPlace
            follows={follows}
            otherwise={isCode ? trans.__('New code cell') : trans.__('New Markdown cell')}
          />
          <AskedCode card={card} />
        </>
      );
    case 'move':
      return (
        <>
          {target === null && <Arguments card={card} />}
          <AskedPlace follows={follows} otherwise={trans.__('Goes to the top of the notebook')} />
        </>
      );
    case 'delete':
      return <Deletion card={card} target={target} />;
    case 'run':
      return <AskedCode card={card} />;
    case 'run_existing':
      return <ExistingCode card={card} target={target} />;
    case 'install': {
      const { name } = card.given;
      const text = typeof name === 'string' ? name : card.argumentsText;
      return <CodeBlock text={text} label={trans.__('Arguments of this call')} isWhole />;
    }
    case 'other':
      return <OtherCall card={card} />;
    default:
      return deed satisfies never;
  }
}

function OtherCall({ card }: { card: ToolCard }) {
  return (
    <>
      {card.code !== '' && <AskedCode card={card} />}
      <Arguments card={card} />
    </>
  );
}

function ExistingCode({ card, target }: Pick<AskedChangeProps, 'card' | 'target'>) {
  return target === null ? (
    <Arguments card={card} />
  ) : (
    <AskedCode card={{ ...card, code: target.source, language: 'python' }} />
  );
}

function Deletion({ card, target }: Pick<AskedChangeProps, 'card' | 'target'>) {
  return target === null ? <Arguments card={card} /> : <CodeDiff before={target.source} after="" />;
}

function namedBy(card: ToolCard, argument: string, actions: TurnActions): NamedCell | null {
  const id = card.given[argument];
  if (typeof id !== 'string' || id === '') {
    return null;
  }
  return card.cells.find(({ cell_id }) => cell_id === id) ?? actions.findCell(id);
}

function AskedCode({ card }: { card: ToolCard }) {
  const trans = useTrans();
  return (
    <CodeBlock
      text={card.code}
      language={card.language}
      label={trans.__('Code of this call')}
      isWhole
    />
  );
}

function Arguments({ card }: { card: ToolCard }) {
  const trans = useTrans();
  return card.argumentsText === '' ? null : (
    <CodeBlock
      text={card.argumentsText}
      language="json"
      label={trans.__('Arguments of this call')}
      isWhole
    />
  );
}

interface AskedPlaceProps {
  readonly follows: NamedCell | null;
  /** What is said where it follows no cell that is named. */
  readonly otherwise: string;
}

function AskedPlace({ follows, otherwise }: AskedPlaceProps) {
  const trans = useTrans();
  return (
    <>
      <p className="cw-muted">{follows === null ? otherwise : trans.__('Goes below')}</p>
      {follows !== null && <CellLink cell={follows} isMarked={false} />}
    </>
  );
}

interface CellLinkProps {
  readonly cell: NamedCell;
  /** It is marked in the notebook anyway. */
  readonly isMarked: boolean;
}

/** A cell by its number and first line: marked in the notebook while pointed at, shown on a click. */
function CellLink({ cell, isMarked }: CellLinkProps) {
  const trans = useTrans();
  const actions = useTurnActions();
  const mark = (isOn: boolean) => () => {
    if (!isMarked) {
      actions.highlight(cell.cell_id, isOn);
    }
  };
  return (
    <button
      type="button"
      className="cw-cell-link"
      title={trans.__('Show this cell in the notebook')}
      disabled={!actions.canReveal}
      onClick={() => {
        actions.reveal(cell.cell_id);
      }}
      onPointerEnter={mark(true)}
      onPointerLeave={mark(false)}
      onFocus={mark(true)}
      onBlur={mark(false)}
    >
      <Icon name="target" />
      <span className="cw-cell-name">{cellName(cell, trans)}</span>{' '}
      <code className="cw-cell-line">{firstLine(cell.source)}</code>
    </button>
  );
}

/** As the person finds it: by the number beside it, else by its place. */
function cellName(cell: NamedCell, trans: TranslationBundle): string {
  if (cell.execution_count !== null) {
    return trans.__('Cell [%1]', cell.execution_count);
  }
  return cell.cell_type === 'markdown'
    ? trans.__('Markdown cell, no. %1', cell.position)
    : trans.__('Cell no. %1', cell.position);
}

function firstLine(source: string): string {
  const lines = source.split('\n').map(line => line.trim());
  return spelledOut(lines.find(line => line !== '') ?? '');
}

const SIGNS = { same: ' ', added: '+', removed: '−' } as const;
const TAGS = { same: 'div', added: 'ins', removed: 'del' } as const;

/** All of a text, with what goes and what comes. */
function CodeDiff({ before, after }: { before: string; after: string }) {
  const trans = useTrans();
  const lines = React.useMemo(() => diffLines(before, after), [before, after]);
  return (
    <div
      className="cw-code cw-mod-whole cw-diff"
      role="group"
      aria-label={trans.__('Change of this cell')}
    >
      {lines.map((line, index) => {
        // The elements say to a screen reader what the sign and the colour say to the eye.
        const Tag = TAGS[line.kind];
        return (
          <Tag key={index} className="cw-diff-line">
            <span className="cw-diff-sign" aria-hidden="true">
              {SIGNS[line.kind]}
            </span>
            <code>{spelledOut(line.text)}</code>
          </Tag>
        );
      })}
    </div>
  );
}
