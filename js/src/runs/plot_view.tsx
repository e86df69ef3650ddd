import * as React from 'react';

import { Nothing } from '../pages/notes';
import { useTrans } from '../views/scope';
import { useSignal } from '../views/signal';
import { CostPlot } from './cost_plot';
import type { CostPoint } from './pareto';
import { agentOf, filtered, type Result } from './result_list';
import type { RunsPage } from './runs_page';

/** What accuracy costs: the results of one suite as points. */
export function PlotView({ page }: { readonly page: RunsPage }) {
  const trans = useTrans();
  const list = page.results;
  const state = useSignal(list.changed, () => list.state);
  const known = filtered(state).filter(({ numbers }) => numbers !== null && numbers.total > 0);
  const suites = [...new Set(known.map(({ suite }) => suite))].sort();
  const [chosen, setChosen] = React.useState('');
  const suite = suites.includes(chosen) ? chosen : mostPriced(known);
  const here = known.filter(result => result.suite === suite);
  const plotted = here.map(pointOf).filter(point => point !== null);
  const others = here.filter(({ numbers }) => numbers?.cost_each === null);
  return (
    <div className="cw-page-scroller cw-page-detail">
      {suites.length > 1 && (
        <label className="cw-chooser">
          <span className="cw-muted">{trans.__('Suite')}</span>
          <select
            className="cw-field"
            value={suite}
            onChange={event => {
              setChosen(event.target.value);
            }}
          >
            {suites.map(name => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      )}
      {plotted.length > 0 ? (
        <CostPlot
          points={plotted}
          onOpen={path => {
            page.go({ kind: 'result', result: path });
          }}
        />
      ) : (
        <Nothing>{trans.__('There is no result whose cost is known')}</Nothing>
      )}
      {others.length > 0 && (
        <p className="cw-muted">
          {trans.__('Without a known cost: %1', [...new Set(others.map(agentOf))].join(', '))}
        </p>
      )}
    </div>
  );
}

function pointOf(result: Result): CostPoint | null {
  const { numbers, path } = result;
  return numbers?.cost_each
    ? { path, label: agentOf(result), cost: numbers.cost_each, share: numbers.share }
    : null;
}

/** The suite with the most points to draw. */
function mostPriced(results: readonly Result[]): string {
  const counts = new Map<string, number>();
  for (const { suite, numbers } of results) {
    counts.set(suite, (counts.get(suite) ?? 0) + (numbers?.cost_each ? 1 : 0));
  }
  return [...counts].sort(([, one], [, other]) => other - one)[0]?.[0] ?? '';
}
