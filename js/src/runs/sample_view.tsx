import * as React from 'react';

import { formatCount, formatDollars, formatSeconds } from '../models/figures';
import { Markdown } from '../markdown';
import { Complaint, Nothing } from '../pages/notes';
import { type Tab, Tabs } from '../pages/tabs';
import { CodeBlock } from '../views/code_block';
import { useTrans } from '../views/scope';
import { useSignal } from '../views/signal';
import type { Sample, Score } from './answers';
import { CellsView } from './cells_view';
import { OutcomeMark } from './outcome_mark';
import type { SampleModel } from './sample_model';
import { StepView } from './step_view';
import { stepsOf } from './trajectory';
import { runStatusWords } from './words';

type SamplePart = 'messages' | 'cells' | 'scores' | 'details';

/** One sample, or one recorded run: what was said, run and scored. */
export function SampleView({ model }: { readonly model: SampleModel }) {
  const trans = useTrans();
  const { sample, problem } = useSignal(model.changed, () => model.state);
  return (
    <div className="cw-page-scroller cw-page-detail">
      <Complaint text={problem} />
      {sample !== null && <Parts sample={sample} />}
      {sample === null && problem === '' && <Nothing>{trans.__('Reading …')}</Nothing>}
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

function Scores({ scores }: { readonly scores: readonly Score[] }) {
  const trans = useTrans();
  return (
    <ul className="cw-scores">
      {scores.map((score, place) => (
        <li key={place}>
          <h4>{score.name}</h4>
          <p className="cw-row">
            <OutcomeMark
              outcome={score.value === null ? 'unscored' : score.passed ? 'passed' : 'failed'}
            />
            {score.value !== null && <span className="cw-muted">{score.value}</span>}
          </p>
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
