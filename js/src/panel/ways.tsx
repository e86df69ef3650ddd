import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

import { complaintOf } from '../client/problems';
import { Markdown } from '../markdown';
import { Button, Icon } from '../ui/button';
import { formatCount, formatDollars, formatSeconds } from '../ui/figures';
import { useSignal, useTrans } from '../ui/hooks';
import { isTrouble, statusWords } from '../ui/words';
import type { BranchList, BranchSummary, ChatState } from '../wire/generated';
import type { Chat, Panel } from './ports';
import { PromptBubble } from './prompt';

/** Between two looks at what still works. */
const LOOK_MILLISECONDS = 500;
const NAMES_SHOWN = 6;

/** Whether several ways of a prompt are being tried now. */
export function areTried({ branches }: Pick<ChatState, 'branches'>): boolean {
  return branches === 'copying' || branches === 'running';
}

interface WaysProps {
  readonly panel: Panel;
  readonly chat: Chat;
}

/** The ways in which a prompt is tried, side by side: how far each is, and which one to keep. */
export function Ways({ panel, chat }: WaysProps) {
  const trans = useTrans();
  const phase = useSignal(chat.changed, () => chat.state.branches);
  const list = useBranches(panel, chat.id, phase);
  const decision = useDecision(trans);
  const ways = list?.branches ?? [];
  return (
    <article className="cw-turn" aria-label={trans.__('Several ways, side by side')}>
      {list !== null && list.prompt !== '' && (
        <PromptBubble turn={{ prompt: list.prompt, files: [], notes: [] }} />
      )}
      <section className="cw-ways" aria-label={trans.__('Ways to choose from')}>
        <header className="cw-ways-header">
          <div className="cw-ways-words">
            <span>
              {phase !== 'over' && <span className="cw-spinner" />}
              <strong role="status">{headline(phase, ways, trans)}</strong>
            </span>
            <span className="cw-muted">
              {trans.__(
                'Your kernel stays as it is until you keep one. That sets back what you ran meanwhile; Undo run brings it again.'
              )}
            </span>
          </div>
          <Button
            disabled={decision.isOpen}
            onClick={() => {
              decision.decide(() => panel.rest.dropBranches(chat.id));
            }}
          >
            {trans.__('Drop all')}
          </Button>
        </header>
        {decision.problem !== '' && (
          <p className="cw-problem" role="alert">
            {decision.problem}
          </p>
        )}
        <ol className="cw-ways-list">
          {ways.map(way => (
            <Way
              key={way.number}
              way={way}
              canKeep={phase === 'over' && !decision.isOpen}
              onKeep={() => {
                decision.decide(() => panel.rest.keepBranch(chat.id, way.number));
              }}
            />
          ))}
        </ol>
      </section>
    </article>
  );
}

function headline(
  phase: ChatState['branches'],
  ways: readonly BranchSummary[],
  trans: TranslationBundle
): string {
  if (phase === 'copying') {
    return trans.__('Copying your kernel …');
  }
  const ended = ways.filter(({ status }) => status !== 'running').length;
  return phase === 'over'
    ? trans.__('Keep the way that you like best')
    : trans.__('%1 of %2 ways have ended', ended, ways.length);
}

interface WayProps {
  readonly way: BranchSummary;
  readonly canKeep: boolean;
  readonly onKeep: () => void;
}

function Way({ way, canKeep, onKeep }: WayProps) {
  const trans = useTrans();
  const name = trans.__('Way %1', way.number);
  const title = way.label === '' ? name : `${name} · ${way.label}`;
  const isRunning = way.status === 'running';
  return (
    <li className="cw-way" aria-label={title}>
      <div className="cw-way-header">
        <strong>{title}</strong>
        <WayStatus way={way} />
      </div>
      {way.picture !== '' && (
        <img
          src={`data:image/png;base64,${way.picture}`}
          alt={trans.__('The last plot of way %1', way.number)}
        />
      )}
      {way.answer !== '' && (
        <div className="cw-way-answer" tabIndex={0} role="group" aria-label={trans.__('Answer')}>
          <Markdown text={way.answer} isStreaming={false} trans={trans} />
        </div>
      )}
      {way.answer === '' && way.problem !== '' && <p className="cw-muted">{way.problem}</p>}
      <Changed names={[...way.variables, ...way.files]} />
      <div className="cw-way-end">
        <span className="cw-figures">{figuresOf(way, trans)}</span>
        {!isRunning && way.run !== '' && (
          <Button
            kind={way.status === 'completed' ? 'primary' : 'plain'}
            disabled={!canKeep}
            aria-label={trans.__('Keep way %1', way.number)}
            onClick={onKeep}
          >
            {trans.__('Keep')}
          </Button>
        )}
      </div>
    </li>
  );
}

function WayStatus({ way }: { way: BranchSummary }) {
  const trans = useTrans();
  if (way.status === 'running') {
    return (
      <span className="cw-way-status">
        <span className="cw-spinner" />
        <span>{way.doing === '' ? trans.__('Working') : way.doing}</span>
      </span>
    );
  }
  const isBad = isTrouble(way.status);
  return (
    <span className={`cw-way-status cw-mod-${isBad ? 'error' : way.status}`}>
      <Icon name={iconOf(way)} />
      <span>{statusWords(way.status, trans)}</span>
    </span>
  );
}

function iconOf({ status }: BranchSummary): 'check' | 'error' | 'stop' {
  if (isTrouble(status)) {
    return 'error';
  }
  return status === 'completed' ? 'check' : 'stop';
}

/** What a way made or changed, by name. */
function Changed({ names }: { names: readonly string[] }) {
  const trans = useTrans();
  if (names.length === 0) {
    return null;
  }
  const more = names.length - NAMES_SHOWN;
  return (
    <ul className="cw-chips" aria-label={trans.__('Changed')} title={names.join(', ')}>
      {names.slice(0, NAMES_SHOWN).map(name => (
        <li key={name} className="cw-chip">
          <code>{name}</code>
        </li>
      ))}
      {more > 0 && <li className="cw-muted">{trans._n('%1 more', '%1 more', more)}</li>}
    </ul>
  );
}

function figuresOf(way: BranchSummary, trans: TranslationBundle): string {
  const cells = trans._n('%1 cell', '%1 cells', way.cells);
  const parts = [cells, formatSeconds(way.seconds)];
  if (way.tokens > 0) {
    parts.push(trans.__('%1 tokens', formatCount(way.tokens)));
  }
  if (way.cost_dollars !== null) {
    parts.push(formatDollars(way.cost_dollars));
  }
  return parts.join(' · ');
}

/** What the server says of the ways, again and again while they work; null: not known yet. */
function useBranches(panel: Panel, id: string, phase: ChatState['branches']): BranchList | null {
  const [list, setList] = React.useState<BranchList | null>(null);
  React.useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    let isOver = false;
    const look = async (): Promise<void> => {
      // A look that fails is made up for by the next one.
      const found = await panel.rest.branches(id).catch(() => null);
      if (isOver) {
        return;
      }
      if (found !== null && found.phase !== '') {
        setList(found);
      }
      if (found?.phase !== 'over') {
        timer = setTimeout(() => void look(), LOOK_MILLISECONDS);
      }
    };
    void look();
    return () => {
      isOver = true;
      if (timer !== null) {
        clearTimeout(timer);
      }
    };
  }, [panel, id, phase]);
  return list;
}

interface Decision {
  /** One was made, and the server has not done it yet. */
  readonly isOpen: boolean;
  readonly problem: string;
  readonly decide: (act: () => Promise<void>) => void;
}

/** Keeping or dropping: once, and what speaks against it. */
function useDecision(trans: TranslationBundle): Decision {
  const [isOpen, setOpen] = React.useState(false);
  const [problem, setProblem] = React.useState('');
  const decide = (act: () => Promise<void>): void => {
    setOpen(true);
    setProblem('');
    act().then(
      () => undefined, // the chat's new state takes this away
      (error: unknown) => {
        setOpen(false);
        setProblem(complaintOf(error) || trans.__('That could not be done.'));
      }
    );
  };
  return { isOpen, problem, decide };
}
