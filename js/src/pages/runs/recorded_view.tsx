import * as React from 'react';

import type { RunRow } from '../../client/runs_rest';
import { LinkButton } from '../../ui/button';
import { formatCount, formatDollars, formatSeconds } from '../../ui/figures';
import { useSignal, useTrans } from '../../ui/hooks';
import { SearchField } from '../../ui/search_field';
import { formatMoment } from '../../ui/words';
import { choicesOf, Chooser } from '../controls';
import { Complaint, Empty, Head, ShowMore } from '../table';
import type { RunsPage } from './runs_page';
import { runStatusWords } from './words';

/** All recorded runs, sorted or the newest first. */
export function RecordedView({ page }: { readonly page: RunsPage }) {
  const trans = useTrans();
  const list = page.runs;
  const { runs, hasMore, isLoaded, problem, sorting } = useSignal(list.changed, () => list.state);
  return (
    <>
      <RunFilters page={page} />
      <Complaint text={problem} />
      {runs.length > 0 && (
        <div className="cw-page-scroller" tabIndex={0} role="group" aria-label={trans.__('Runs')}>
          <table className="cw-table">
            <Head
              columns={[
                { key: 'prompt', label: trans.__('Prompt'), sorts: 'smallest' },
                { key: 'status', label: trans.__('Status'), sorts: 'smallest' },
                { key: 'model', label: trans.__('Model'), sorts: 'smallest' },
                { key: 'lane', label: trans.__('From'), sorts: 'smallest' },
                { key: 'started', label: trans.__('Started'), sorts: 'largest' },
                { key: 'seconds', label: trans.__('Time'), isNumber: true, sorts: 'largest' },
                { key: 'tokens', label: trans.__('Tokens'), isNumber: true, sorts: 'largest' },
                { key: 'cost', label: trans.__('Cost'), isNumber: true, sorts: 'largest' }
              ]}
              sorting={sorting}
              onSort={chosen => {
                void list.sort(chosen);
              }}
            />
            <tbody>
              {runs.map(run => (
                <RecordedRunRow key={run.id} page={page} run={run} />
              ))}
            </tbody>
          </table>
          <ShowMore isThere={hasMore} onMore={() => list.more()} />
        </div>
      )}
      {runs.length === 0 && <Empty state={{ isLoaded, problem }}>{trans.__('No run fits')}</Empty>}
    </>
  );
}

function RunFilters({ page }: { readonly page: RunsPage }) {
  const trans = useTrans();
  const list = page.runs;
  const { filter, statuses, models, lanes } = useSignal(list.changed, () => list.state);
  return (
    <div className="cw-filters" role="search" aria-label={trans.__('Filter the runs')}>
      <SearchField
        label={trans.__('Search runs')}
        value={filter.query}
        onSearch={query => {
          void list.setFilter({ query });
        }}
      />
      <Chooser
        label={trans.__('Status')}
        value={filter.status}
        choices={statuses.map(value => ({ value, label: runStatusWords(value, trans) }))}
        onChoose={status => {
          void list.setFilter({ status });
        }}
      />
      <Chooser
        label={trans.__('Model')}
        value={filter.model}
        choices={choicesOf(models)}
        onChoose={model => {
          void list.setFilter({ model });
        }}
      />
      <Chooser
        label={trans.__('From')}
        value={filter.lane}
        choices={choicesOf(lanes)}
        onChoose={lane => {
          void list.setFilter({ lane });
        }}
      />
    </div>
  );
}

interface RecordedRunRowProps {
  readonly page: RunsPage;
  readonly run: RunRow;
}

const RecordedRunRow = React.memo(function RecordedRunRow({ page, run }: RecordedRunRowProps) {
  const trans = useTrans();
  const mark = run.is_estimated ? '~' : '';
  return (
    <tr>
      <th scope="row">
        <LinkButton
          className="cw-one-line"
          onClick={() => {
            page.go({ kind: 'run', run: run.id });
          }}
        >
          {run.prompt === '' ? run.id : run.prompt}
        </LinkButton>
      </th>
      <td>
        <span className={`cw-state ${run.status === 'running' ? 'cw-mod-going' : ''}`}>
          {runStatusWords(run.status, trans)}
        </span>
      </td>
      <td>{run.model}</td>
      <td>{run.lane}</td>
      <td className="cw-when">{formatMoment(run.started_at)}</td>
      <td className="cw-number">{formatSeconds(run.seconds)}</td>
      <td className="cw-number">{mark + formatCount(run.tokens)}</td>
      <td className="cw-number">
        {run.cost_dollars === null ? '–' : mark + formatDollars(run.cost_dollars)}
      </td>
    </tr>
  );
});
