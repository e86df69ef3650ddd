import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

import type { ChatContext, KernelSnapshots } from '../client/panel_rest';
import { complaintOf } from '../client/problems';
import { Button } from '../ui/button';
import { formatCount, formatDollars, formatSize } from '../ui/figures';
import { takeAnswer, useTrans } from '../ui/hooks';
import { usePopup } from '../ui/menu';
import type { Usage } from '../wire/generated';
import { usePins } from './pins';

interface ContextSource {
  /** What the next request begins with; rejects where the server does not tell. */
  readonly load: () => Promise<ChatContext>;
  /** Put these words above the summary; null: not now. */
  readonly save: ((words: string) => Promise<ChatContext>) | null;
}

/** The states that the chat's kernel can be taken back to. */
interface StateSource {
  /** Which there are and what they hold; rejects where the kernel cannot be asked now. */
  readonly load: () => Promise<KernelSnapshots>;
  readonly forget: () => Promise<KernelSnapshots>;
}

interface ContextDetailsProps {
  readonly source: ContextSource;
  /** What the person wrote and did not save; null: nothing. */
  readonly draft: string | null;
  readonly onDraft: (draft: string | null) => void;
}

/** What is in the context, part by part, what it costs, and the summary of older turns. */
function ContextDetails({ source, draft, onDraft }: ContextDetailsProps) {
  const trans = useTrans();
  const [found, setFound] = React.useState<ChatContext | null>(null);
  const { runs: pins } = usePins();
  const asked = React.useRef(source);
  // An older server does not tell.
  React.useEffect(() => takeAnswer(asked.current.load(), setFound), [pins]);
  if (found === null || found.parts.length === 0) {
    return null;
  }
  return (
    <>
      <table className="cw-context-parts">
        <caption>{trans.__('What it holds, about')}</caption>
        <tbody>
          {found.parts.map(part => (
            <tr key={part.name}>
              <th scope="row">{partWords(part.name, trans)}</th>
              <td>{formatCount(part.tokens)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {found.dollars !== null && (
        <p>{costWords(found.dollars, found.cached_dollars ?? found.dollars, trans)}</p>
      )}
      <HistorySummary
        found={found}
        source={source}
        draft={draft}
        onDraft={onDraft}
        onSaved={setFound}
      />
    </>
  );
}

interface HistorySummaryProps extends ContextDetailsProps {
  readonly found: ChatContext;
  readonly onSaved: (context: ChatContext) => void;
}

function HistorySummary({ found, source, draft, onDraft, onSaved }: HistorySummaryProps) {
  const trans = useTrans();
  const id = React.useId();
  const [wasOpen] = React.useState(draft !== null);
  const [problem, setProblem] = React.useState('');
  const { save } = source;
  const words = draft ?? found.words;
  const onSave = (): void => {
    setProblem('');
    save?.(words).then(
      context => {
        onDraft(null);
        onSaved(context);
      },
      (error: unknown) => {
        setProblem(complaintOf(error));
      }
    );
  };
  return (
    <details className="cw-context-summary" open={wasOpen || undefined}>
      <summary>{trans.__('Summary of older turns')}</summary>
      <p className="cw-context-text">
        {found.summary === '' ? trans.__('All turns are still there.') : found.summary}
      </p>
      <label htmlFor={id}>{trans.__('Your words in it; they stay')}</label>
      <textarea
        id={id}
        className="cw-field"
        rows={3}
        value={words}
        onChange={event => {
          onDraft(event.target.value);
        }}
      />
      <Button disabled={save === null || words === found.words} onClick={onSave}>
        {trans.__('Save')}
      </Button>
      {problem !== '' && (
        <p className="cw-problem" role="alert">
          {problem}
        </p>
      )}
    </details>
  );
}

function costWords(dollars: number, cached: number, trans: TranslationBundle): string {
  return trans.__(
    'A request costs %1 for it, %2 from the cache.',
    formatDollars(dollars),
    formatDollars(cached)
  );
}

/** A part as the server names it; one of a newer server stays as it is. */
function partWords(name: string, trans: TranslationBundle): string {
  const words: Readonly<Record<string, string>> = {
    instructions: trans.__('Instructions'),
    tools: trans.__('Tools'),
    'summary of earlier turns': trans.__('Summary of older turns'),
    pinned: trans.__('Pinned turns'),
    questions: trans.__('Questions'),
    'project instructions': trans.__('Instructions of the project'),
    'put beside questions': trans.__('Put beside questions'),
    answers: trans.__('Answers'),
    calls: trans.__('Calls of tools'),
    results: trans.__('Results of tools'),
    pictures: trans.__('Pictures')
  };
  return words[name] ?? name;
}

const FIRST_CHARACTERS = 80;

interface PinnedTurnsProps {
  /** The person went to one of them. */
  readonly onReveal: () => void;
  /** The person took the last one away from here. */
  readonly onEmptied: () => void;
}

/** The turns that stay in the context, each to go to or to unpin; nothing where there are none. */
function PinnedTurns({ onReveal, onEmptied }: PinnedTurnsProps) {
  const trans = useTrans();
  const id = React.useId();
  const pins = usePins();
  const runs = (pins.runs ?? []).filter(run => (pins.turnOf(run)?.supersededBy ?? '') === '');
  const { list, leave } = useNextFocus(runs.length, onEmptied);
  if (runs.length === 0) {
    return null;
  }
  return (
    <section className="cw-pinned" aria-labelledby={id}>
      <p id={id}>{trans._n('%1 turn pinned', '%1 turns pinned', runs.length)}</p>
      <ul ref={list}>
        {runs.map((run, index) => {
          const prompt = firstWords(pins.turnOf(run)?.prompt ?? trans.__('A turn of this chat'));
          return (
            <li key={run}>
              <button
                type="button"
                className="cw-link"
                title={prompt}
                onClick={() => {
                  onReveal();
                  pins.reveal(run);
                }}
              >
                {prompt}
              </button>
              <Button
                kind="quiet"
                aria-label={trans.__('Unpin %1', prompt)}
                onClick={() => {
                  leave(index);
                  pins.setPinned(run, false);
                }}
              >
                {trans.__('Unpin')}
              </Button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function firstWords(prompt: string): string {
  const words = prompt.trim().replace(/\s+/g, ' ');
  return words.length > FIRST_CHARACTERS ? `${words.slice(0, FIRST_CHARACTERS)} …` : words;
}

/** Whoever takes a row away goes on at the next one. */
function useNextFocus(count: number, onEmptied: () => void) {
  const list = React.useRef<HTMLUListElement>(null);
  const left = React.useRef<number | null>(null);
  const latest = React.useRef(onEmptied);
  latest.current = onEmptied;
  React.useLayoutEffect(() => {
    const index = left.current;
    left.current = null;
    if (index !== null && document.activeElement === document.body) {
      const buttons = list.current?.querySelectorAll<HTMLElement>('.cw-button') ?? [];
      const next = buttons[Math.min(index, buttons.length - 1)];
      if (next === undefined) {
        latest.current();
      } else {
        next.focus();
      }
    }
  }, [count]);
  const leave = React.useCallback((index: number) => {
    left.current = index;
  }, []);
  return { list, leave };
}

/** How much memory undo holds, and a way to give it back; nothing where it holds none. */
function KeptStates({ source }: { source: StateSource }) {
  const trans = useTrans();
  const [found, setFound] = React.useState<KernelSnapshots | null>(null);
  const [isForgotten, setForgotten] = React.useState(false);
  const [problem, setProblem] = React.useState('');
  const asked = React.useRef(source);
  // While a cell runs nobody tells; nor does an older server.
  React.useEffect(() => takeAnswer(asked.current.load(), setFound), []);
  const forget = (): void => {
    setProblem('');
    asked.current.forget().then(
      states => {
        setFound(states);
        setForgotten(true);
      },
      (error: unknown) => {
        setProblem(complaintOf(error));
      }
    );
  };
  const count = found?.snapshots.length ?? 0;
  if (count === 0 && !isForgotten) {
    return null;
  }
  return (
    <div className="cw-kept-states">
      <p role="status">
        {count === 0
          ? trans.__('Forgotten. Undo brings variables back again from the next run on.')
          : trans._n(
              'Undo keeps %1 state, in %2 of memory.',
              'Undo keeps %1 states, in %2 of memory.',
              count,
              formatSize(found?.held_bytes ?? 0)
            )}
      </p>
      {count > 0 && (
        <Button kind="quiet" onClick={forget}>
          {trans._n('Forget it', 'Forget them', count)}
        </Button>
      )}
      {problem !== '' && (
        <p className="cw-problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

const WARN_FROM = 0.75;
const RADIUS = 6;
const ROUND = 2 * Math.PI * RADIUS;

interface ContextMeterProps {
  readonly tokens: number;
  /** 0: not known. */
  readonly limit: number;
  /** Of the last turn; null: there is none. */
  readonly usage: Usage | null;
  /** Null: not now. */
  readonly onCompact: (() => void) | null;
  /** What it is made of. */
  readonly source: ContextSource;
  /** Null: not now. */
  readonly states: StateSource | null;
}

/** How much the model reads with each request, and of how much; and how to make it less. */
export function ContextMeter(props: ContextMeterProps) {
  const { tokens, limit, onCompact } = props;
  const trans = useTrans();
  const popup = usePopup<HTMLSpanElement>();
  const button = React.useRef<HTMLButtonElement>(null);
  const [isHovered, setHovered] = React.useState(false);
  const [draft, setDraft] = React.useState<string | null>(null);
  if (tokens === 0) {
    return null;
  }
  const isShown = popup.isOpen || isHovered;
  const close = (): void => {
    popup.close();
    setHovered(false);
  };
  const share = limit === 0 ? 0 : Math.min(1, tokens / limit);
  const isFull = share >= WARN_FROM;
  const label = labelOf(tokens, limit, trans);
  return (
    <span
      className="cw-menu-anchor"
      ref={popup.anchor}
      onMouseEnter={() => {
        setHovered(true);
      }}
      onMouseLeave={() => {
        setHovered(false);
      }}
      onKeyDown={event => {
        if (event.key === 'Escape' && isShown && !event.nativeEvent.isComposing) {
          event.preventDefault();
          event.stopPropagation();
          close();
          button.current?.focus();
        }
      }}
    >
      <button
        ref={button}
        type="button"
        className={`cw-meter ${isFull ? 'cw-mod-full' : ''}`}
        aria-label={label}
        aria-haspopup="dialog"
        aria-expanded={isShown}
        onClick={popup.toggle}
      >
        <Ring share={share} />
        {isFull && <span>{`${String(percentOf(share))}%`}</span>}
        {limit === 0 && <span>{formatCount(tokens)}</span>}
      </button>
      {isShown && (
        <div
          role="dialog"
          aria-label={label}
          className="cw-popup cw-meter-details cw-mod-above cw-mod-end"
          onFocus={() => {
            popup.open(); // whoever writes here may move the pointer away
          }}
        >
          <MeterDetails {...props} isFull={isFull} />
          <ContextDetails source={props.source} draft={draft} onDraft={setDraft} />
          {/* The kernel reads a while to answer, so nobody asks it for having passed by. */}
          {popup.isOpen && props.states !== null && <KeptStates source={props.states} />}
          <PinnedTurns
            onReveal={close}
            onEmptied={() => {
              button.current?.focus();
            }}
          />
          <Button
            disabled={onCompact === null}
            onClick={() => {
              close();
              onCompact?.();
            }}
          >
            {trans.__('Compact now')}
          </Button>
        </div>
      )}
    </span>
  );
}

function percentOf(share: number): number {
  return Math.round(share * 100);
}

function labelOf(tokens: number, limit: number, trans: TranslationBundle): string {
  return limit === 0
    ? trans.__('Context: %1 tokens', formatCount(tokens))
    : trans.__('Context: %1% full', percentOf(Math.min(1, tokens / limit)));
}

function Ring({ share }: { share: number }) {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r={RADIUS} className="cw-meter-track" />
      {share > 0 && (
        <circle
          cx="8"
          cy="8"
          r={RADIUS}
          className="cw-meter-value"
          strokeDasharray={`${String(share * ROUND)} ${String(ROUND)}`}
          transform="rotate(-90 8 8)"
        />
      )}
    </svg>
  );
}

function MeterDetails({ tokens, limit, usage, isFull }: ContextMeterProps & { isFull: boolean }) {
  const trans = useTrans();
  return (
    <>
      <strong>{labelOf(tokens, limit, trans)}</strong>
      <dl>
        <dt>{trans.__('Last request')}</dt>
        <dd>{formatCount(tokens)}</dd>
        {usage !== null && usage.cached_tokens > 0 && (
          <>
            <dt>{trans.__('Read from the cache in the last run')}</dt>
            <dd>{formatCount(usage.cached_tokens)}</dd>
          </>
        )}
        {limit > 0 && (
          <>
            <dt>{trans.__('Room left')}</dt>
            <dd>{formatCount(Math.max(0, limit - tokens))}</dd>
            <dt>{trans.__('The model takes')}</dt>
            <dd>{formatCount(limit)}</dd>
          </>
        )}
      </dl>
      <p className="cw-muted">
        {isFull
          ? trans.__('Older turns are summed up soon.')
          : trans.__('Older turns are summed up when it is full.')}
      </p>
    </>
  );
}
