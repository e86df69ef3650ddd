import * as React from 'react';

import type { Sample, SampleCell, Score } from '../../client/runs_rest';
import { Markdown } from '../../markdown';
import { CodeBlock } from '../../ui/code_block';
import { formatCount, formatDollars, formatSeconds } from '../../ui/figures';
import { useSignal, useTrans } from '../../ui/hooks';
import { cardTitle } from '../../ui/words';
import type { JsonObject } from '../../wire/generated';
import { isObject } from '../../wire/shapes';
import { type Tab, Tabs } from '../controls';
import { Complaint, Nothing, Reading } from '../table';
import type { DrawOutputs } from './output_drawer';
import type { SampleModel } from './runs_page';
import { type Step, stepsOf } from './trajectory';
import { OutcomeMark, runStatusWords } from './words';

const DrawingContext = React.createContext<DrawOutputs | null>(null);

export const OutputsProvider = DrawingContext.Provider;

/** What a cell showed; as plain text where nothing can draw it. */
function Outputs({ outputs }: { readonly outputs: readonly JsonObject[] }) {
  const trans = useTrans();
  const draw = React.useContext(DrawingContext);
  const host = React.useRef<HTMLDivElement>(null);
  React.useLayoutEffect(() => {
    if (draw === null || host.current === null || outputs.length === 0) {
      return;
    }
    const names = new MutationObserver(() => {
      namePictures(host.current, trans.__('A picture that the cell showed'));
    });
    names.observe(host.current, { childList: true, subtree: true });
    const drawn = draw(host.current, outputs);
    return () => {
      names.disconnect();
      drawn.dispose();
    };
  }, [draw, outputs, trans]);
  if (outputs.length === 0) {
    return null;
  }
  if (draw === null) {
    return <CodeBlock text={plainText(outputs)} label={trans.__('Outputs')} />;
  }
  return <div ref={host} className="cw-outputs" />;
}

/** JupyterLab draws pictures without words for people who cannot see them. */
function namePictures(host: HTMLElement | null, name: string): void {
  for (const picture of host?.querySelectorAll('img:not([alt])') ?? []) {
    picture.setAttribute('alt', name);
  }
}

function plainText(outputs: readonly JsonObject[]): string {
  return outputs
    .map(({ text, data, ename, evalue }) => {
      const shown = isObject(data)
        ? data['text/plain']
        : (text ?? `${join(ename)}: ${join(evalue)}`);
      return join(shown);
    })
    .join('\n');
}

function join(text: unknown): string {
  return Array.isArray(text) ? text.join('') : typeof text === 'string' ? text : '';
}

/** Each time a cell ran, with what it showed. */
function CellsView({ cells }: { readonly cells: readonly SampleCell[] }) {
  const trans = useTrans();
  if (cells.length === 0) {
    return <Nothing>{trans.__('No cell ran')}</Nothing>;
  }
  return (
    <ol className="cw-steps">
      {cells.map((cell, place) => (
        <li key={place}>
          <CellView cell={cell} number={place + 1} />
        </li>
      ))}
    </ol>
  );
}

interface CellViewProps {
  readonly cell: SampleCell;
  readonly number: number;
}

const CellView = React.memo(function CellView({ cell, number }: CellViewProps) {
  const trans = useTrans();
  const title = trans.__('Cell %1', number);
  const origins: Partial<Record<string, string>> = {
    agent: trans.__('by the agent'),
    user: trans.__('by a person'),
    'human-edit': trans.__('edited by a person'),
    setup: trans.__('setup'),
    check: trans.__('check')
  };
  const isFailed = cell.status !== '' && cell.status !== 'ok';
  return (
    <article className={`cw-step ${isFailed ? 'cw-mod-failed' : ''}`} aria-label={title}>
      <h4>
        {title}{' '}
        <span className="cw-muted">
          {[origins[cell.origin] ?? cell.origin, formatSeconds(cell.seconds)].join(' · ')}
        </span>
        {isFailed && <span className="cw-outcome cw-mod-failed">{trans.__('Failed')}</span>}
      </h4>
      <CodeBlock text={cell.source} language="python" label={trans.__('Code of the cell')} />
      <Outputs outputs={cell.outputs} />
    </article>
  );
});

/** One message. Only what a model wrote is Markdown; all else is shown as it is. */
export const StepView = React.memo(function StepView({ step }: { readonly step: Step }) {
  const trans = useTrans();
  const { role, text, calls, name, pictures } = step;
  const titles: Record<Step['role'], string> = {
    system: trans.__('System'),
    user: trans.__('Person'),
    assistant: trans.__('Model'),
    tool: trans.__('Result of %1', name === '' ? trans.__('a tool') : name)
  };
  const title = titles[role];
  return (
    <article className={`cw-step cw-mod-${role}`} aria-label={title}>
      <h4>{title}</h4>
      {role === 'assistant' && text !== '' && (
        <Markdown text={text} isStreaming={false} trans={trans} />
      )}
      {role === 'system' && (
        <details>
          <summary>{trans.__('Instructions')}</summary>
          <CodeBlock text={text} label={title} />
        </details>
      )}
      {(role === 'user' || role === 'tool') && text !== '' && (
        <CodeBlock text={text} label={title} />
      )}
      {pictures.map((url, place) => (
        <img key={place} src={url} alt={trans.__('A picture that the model was shown')} />
      ))}
      {calls.map((call, place) => (
        <div key={place} className="cw-step-call">
          <p className="cw-muted">{cardTitle({ name: call.name, label: call.name }, trans)}</p>
          <CodeBlock
            text={call.code === '' ? call.argumentsText : call.code}
            language={call.code === '' ? '' : 'python'}
            label={trans.__('What the model asked for')}
          />
        </div>
      ))}
    </article>
  );
});

type SamplePart = 'messages' | 'cells' | 'scores' | 'details';

/** One sample, or one recorded run: what was said, run and scored. */
export function SampleView({ model }: { readonly model: SampleModel }) {
  const { sample, problem } = useSignal(model.changed, () => model.state);
  return (
    <div className="cw-page-scroller cw-page-detail">
      <Complaint text={problem} />
      {sample !== null && <Parts sample={sample} />}
      {sample === null && problem === '' && <Reading />}
    </div>
  );
}

function Parts({ sample }: { readonly sample: Sample }) {
  const trans = useTrans();
  const [chosen, setChosen] = React.useState<SamplePart>('messages');
  const id = React.useId();
  const tabs: Tab<SamplePart>[] = [
    { key: 'messages', label: trans.__('Messages (%1)', sample.messages.length) },
    { key: 'cells', label: trans.__('Cells (%1)', sample.cells.length) },
    ...(sample.scores.length > 0
      ? [{ key: 'scores' as const, label: trans.__('Scores (%1)', sample.scores.length) }]
      : []),
    { key: 'details', label: trans.__('Details') }
  ];
  const parts: Record<SamplePart, () => React.ReactNode> = {
    messages: () => <Messages sample={sample} />,
    cells: () => <CellsView cells={sample.cells} />,
    scores: () => <Scores scores={sample.scores} />,
    details: () => <SampleDetails sample={sample} />
  };
  return (
    <>
      <SampleFacts sample={sample} />
      <Tabs
        label={trans.__('Parts of the sample')}
        tabs={tabs}
        chosen={chosen}
        panel={id}
        onChoose={setChosen}
      />
      <div id={id} role="tabpanel" className="cw-runs-part">
        {parts[chosen]()}
      </div>
    </>
  );
}

/** How it ended, and what it took. */
export function SampleFacts({ sample }: { readonly sample: Sample }) {
  const trans = useTrans();
  const { scores, cost_dollars: cost, usage, time, model } = sample;
  const tokens = Number(usage.prompt_tokens ?? 0) + Number(usage.completion_tokens ?? 0);
  const facts = [
    runStatusWords(sample.status, trans),
    typeof model.model === 'string' ? model.model : '',
    formatSeconds(time.seconds),
    tokens > 0 ? trans.__('%1 tokens', formatCount(tokens)) : '',
    cost === null ? '' : formatDollars(cost)
  ];
  return (
    <div className="cw-sample-facts">
      {scores.length > 0 && (
        <OutcomeMark
          outcome={
            scores.every(({ passed }) => passed)
              ? 'passed'
              : scores.some(({ value }) => value === null)
                ? 'unscored'
                : 'failed'
          }
        />
      )}
      <span>{facts.filter(fact => fact !== '').join(' · ')}</span>
      {sample.error !== '' && <span className="cw-muted">{sample.error}</span>}
    </div>
  );
}

function Messages({ sample }: { readonly sample: Sample }) {
  const trans = useTrans();
  const steps = React.useMemo(() => stepsOf(sample.messages), [sample.messages]);
  return steps.length === 0 ? (
    <Nothing>{trans.__('Nothing was said')}</Nothing>
  ) : (
    <ol className="cw-steps">
      {steps.map((step, place) => (
        <li key={place}>
          <StepView step={step} />
        </li>
      ))}
    </ol>
  );
}

/** What a check counted, and what should have been. */
function ScoreFigures({ score }: { readonly score: Score }) {
  const trans = useTrans();
  const { value, points, expected, found } = score;
  const outcome = value === null ? 'unscored' : score.passed ? 'passed' : 'failed';
  return (
    <>
      <p className="cw-row">
        <OutcomeMark outcome={outcome} />
        {value !== null && (
          <span className="cw-muted">
            {points === 1
              ? value
              : trans.__('%1 of %2 points', formatPoints(value * points), formatPoints(points))}
          </span>
        )}
      </p>
      {expected !== '' && <p className="cw-muted">{trans.__('Expected: %1', expected)}</p>}
      {found !== '' && <p className="cw-muted">{trans.__('Found: %1', found)}</p>}
    </>
  );
}

function formatPoints(points: number): string {
  return String(Number(points.toFixed(6)));
}

function Scores({ scores }: { readonly scores: readonly Score[] }) {
  const trans = useTrans();
  return (
    <ul className="cw-scores">
      {scores.map((score, place) => (
        <li key={place}>
          <h4>{score.name}</h4>
          <ScoreFigures score={score} />
          {score.error !== '' && (
            <CodeBlock text={score.error} label={trans.__('Why the check failed to run')} />
          )}
          {score.explanation !== '' && (
            <Markdown text={score.explanation} isStreaming={false} trans={trans} />
          )}
        </li>
      ))}
    </ul>
  );
}

function SampleDetails({ sample }: { readonly sample: Sample }) {
  const trans = useTrans();
  const { input, target, setup, model, env, usage } = sample;
  const answer =
    typeof sample.result === 'string' ? sample.result : JSON.stringify(sample.result, null, 2);
  const texts: readonly (readonly [string, string])[] = [
    [trans.__('Prompt'), input],
    [trans.__('Reference'), target],
    [trans.__('Setup'), setup.join('\n\n')],
    [trans.__('Answer'), answer === 'null' ? '' : answer],
    [trans.__('Model and request'), JSON.stringify(model, null, 2)],
    [trans.__('Usage'), JSON.stringify(usage, null, 2)],
    [trans.__('Environment'), JSON.stringify(env, null, 2)],
    [trans.__('Names'), [sample.id, sample.run_id].filter(name => name !== '').join('\n')]
  ];
  return (
    <>
      {texts
        .filter(([, text]) => text !== '' && text !== '{}')
        .map(([name, text]) => (
          <section key={name}>
            <h4>{name}</h4>
            <CodeBlock text={text} label={name} />
          </section>
        ))}
    </>
  );
}
