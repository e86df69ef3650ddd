import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

import { formatCount, formatDollars } from '../models/figures';
import type { ChatContext } from '../server/answers';
import { Button } from './button';
import { usePins } from './pins';
import { useTrans } from './scope';

export interface ContextSource {
  /** What the next request begins with; rejects where the server does not tell. */
  readonly load: () => Promise<ChatContext>;
  /** Put these words above the summary; null: not now. */
  readonly save: ((words: string) => Promise<ChatContext>) | null;
}

interface ContextDetailsProps {
  readonly source: ContextSource;
  /** What the person wrote and did not save; null: nothing. */
  readonly draft: string | null;
  readonly onDraft: (draft: string | null) => void;
}

/** What is in the context, part by part, what it costs, and the summary of older turns. */
export function ContextDetails({ source, draft, onDraft }: ContextDetailsProps) {
  const trans = useTrans();
  const [found, setFound] = React.useState<ChatContext | null>(null);
  const { runs: pins } = usePins();
  const asked = React.useRef(source);
  React.useEffect(() => {
    let isShown = true;
    asked.current.load().then(
      context => {
        if (isShown) {
          setFound(context);
        }
      },
      () => undefined // an older server does not tell
    );
    return () => {
      isShown = false;
    };
  }, [pins]);
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
        setProblem(error instanceof Error ? error.message : String(error));
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
    'put beside questions': trans.__('Put beside questions'),
    answers: trans.__('Answers'),
    calls: trans.__('Calls of tools'),
    results: trans.__('Results of tools'),
    pictures: trans.__('Pictures')
  };
  return words[name] ?? name;
}
