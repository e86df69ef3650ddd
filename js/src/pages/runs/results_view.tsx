import * as React from 'react';

import { Button, LinkButton } from '../../ui/button';
import { formatSeconds } from '../../ui/figures';
import { useSignal, useTrans } from '../../ui/hooks';
import { SearchField } from '../../ui/search_field';
import { formatMoment } from '../../ui/words';
import { choicesOf, Chooser } from '../controls';
import { Complaint, Empty, Head, type Sortable, sortedRows } from '../table';
import {
  agentOf,
  failuresIn,
  filtered,
  modelsOf,
  type Result,
  type ResultListState
} from './result_list';
import type { RunsPage } from './runs_page';
import { dollars, earnsParts, Interval, percent, Share, stateWords } from './words';

interface FolderFieldProps {
  readonly folder: string;
  readonly onFolder: (folder: string) => void;
}

/** Where results are looked for; taken over with Enter or when the field is left. */
function FolderField({ folder, onFolder }: FolderFieldProps) {
  const trans = useTrans();
  const [text, setText] = React.useState(folder);
  React.useEffect(() => {
    setText(folder);
  }, [folder]);
  const take = (): void => {
    const wanted = text.trim();
    if (wanted !== '' && wanted !== folder) {
      onFolder(wanted);
    }
  };
  return (
    <label className="cw-chooser">
      <span className="cw-muted">{trans.__('Folder')}</span>
      <input
        className="cw-field"
        value={text}
        title={trans.__('A folder below the one that JupyterLab was started in')}
        onChange={event => {
          setText(event.target.value);
        }}
        onBlur={take}
        onKeyDown={event => {
          if (event.key === 'Enter' && !event.nativeEvent.isComposing) {
            take();
          }
        }}
      />
    </label>
  );
}

/** What the table can be sorted by. */
const COLUMNS: Readonly<Record<string, (result: Result) => Sortable>> = {
  agent: agentOf,
  suite: ({ suite }) => suite,
  state: ({ state }) => state,
  passed: ({ numbers }) => numbers?.share.value ?? null,
  cost: ({ numbers }) => numbers?.cost_each?.value ?? null,
  time: ({ numbers }) => numbers?.seconds_each?.value ?? null,
  failed: ({ numbers }) => (numbers === null ? null : failuresIn(numbers)),
  written: result => result.modified_at
};

/** All results of a folder: find some, open one, compare two. */
export function ResultsView({ page }: { readonly page: RunsPage }) {
  const trans = useTrans();
  const { results } = page;
  const state = useSignal(results.changed, () => results.state);
  const shown = sortedRows(filtered(state), state.sorting, COLUMNS);
  return (
    <>
      <ResultFilters page={page} state={state} />
      <Complaint text={state.problem} />
      {state.isCut && (
        <p className="cw-page-note">
          {trans.__(
            'There are more results in this folder than fit in a list; name a smaller one.'
          )}
        </p>
      )}
      {shown.length > 0 && (
        <div
          className="cw-page-scroller"
          tabIndex={0}
          role="group"
          aria-label={trans.__('Results')}
        >
          <table className="cw-table">
            <Head
              columns={[
                { key: 'choose', label: trans.__('Choose'), isHidden: true },
                { key: 'agent', label: trans.__('Agent'), sorts: 'smallest' },
                { key: 'suite', label: trans.__('Suite'), sorts: 'smallest' },
                { key: 'state', label: trans.__('State'), sorts: 'smallest' },
                { key: 'passed', label: trans.__('Passed'), sorts: 'largest' },
                { key: 'cost', label: trans.__('Cost of a sample'), sorts: 'smallest' },
                { key: 'time', label: trans.__('Time of a sample'), sorts: 'smallest' },
                { key: 'failed', label: trans.__('Not run'), isNumber: true, sorts: 'largest' },
                { key: 'written', label: trans.__('Written'), sorts: 'largest' }
              ]}
              sorting={state.sorting}
              onSort={sorting => {
                results.sort(sorting);
              }}
            />
            <tbody>
              {shown.map(result => (
                <ResultRow
                  key={result.path}
                  page={page}
                  result={result}
                  isChosen={state.chosen.includes(result.path)}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {shown.length === 0 && (
        <Empty state={state}>
          {state.results.length > 0
            ? trans.__('No result fits')
            : trans.__(
                'There are no results in the folder "%1". "cellwright bench run" writes some.',
                state.folder
              )}
        </Empty>
      )}
    </>
  );
}

interface FiltersProps {
  readonly page: RunsPage;
  readonly state: ResultListState;
}

function ResultFilters({ page, state }: FiltersProps) {
  const trans = useTrans();
  const { results: all, filter, chosen, folder } = state;
  const list = page.results;
  const [first, second] = chosen;
  return (
    <div className="cw-filters" role="search" aria-label={trans.__('Filter the results')}>
      <SearchField
        label={trans.__('Search results')}
        value={filter.text}
        onSearch={text => {
          list.setFilter({ text });
        }}
      />
      <Chooser
        label={trans.__('Suite')}
        value={filter.suite}
        choices={choicesOf(all.map(({ suite }) => suite))}
        onChoose={suite => {
          list.setFilter({ suite });
        }}
      />
      <Chooser
        label={trans.__('Agent')}
        value={filter.agent}
        choices={choicesOf(all.map(agentOf))}
        onChoose={agent => {
          list.setFilter({ agent });
        }}
      />
      <Chooser
        label={trans.__('Model')}
        value={filter.model}
        choices={choicesOf(all.flatMap(modelsOf))}
        onChoose={model => {
          list.setFilter({ model });
        }}
      />
      <Chooser
        label={trans.__('State')}
        value={filter.state}
        choices={(['done', 'going', 'unfinished'] as const).map(value => ({
          value,
          label: stateWords(value, trans)
        }))}
        onChoose={value => {
          list.setFilter({ state: value });
        }}
      />
      <FolderField
        folder={folder}
        onFolder={name => {
          void list.setFolder(name);
        }}
      />
      <Button
        icon="download"
        aria-disabled={all.length === 0}
        title={trans.__('Save all results of this folder as one page that can be handed on')}
        onClick={() => {
          if (all.length > 0) {
            void list.saveLeaderboard();
          }
        }}
      >
        {trans.__('Leaderboard')}
      </Button>
      <Button
        kind={chosen.length === 2 ? 'primary' : 'plain'}
        aria-disabled={chosen.length !== 2}
        title={trans.__('Choose two results of the list; the one chosen first is the baseline')}
        onClick={() => {
          if (first !== undefined && second !== undefined) {
            page.go({ kind: 'comparison', first, second });
          }
        }}
      >
        {trans.__('Compare (%1 of 2)', chosen.length)}
      </Button>
    </div>
  );
}

interface ResultRowProps {
  readonly page: RunsPage;
  readonly result: Result;
  readonly isChosen: boolean;
}

const ResultRow = React.memo(function ResultRow({ page, result, isChosen }: ResultRowProps) {
  const trans = useTrans();
  const { path, numbers, state } = result;
  const agent = agentOf(result);
  return (
    <tr className={isChosen ? 'cw-mod-chosen' : ''}>
      <td>
        <input
          type="checkbox"
          checked={isChosen}
          aria-label={trans.__('Compare %1', path)}
          onChange={() => {
            page.results.choose(path);
          }}
        />
      </td>
      <th scope="row">
        <LinkButton
          onClick={() => {
            page.go({ kind: 'result', result: path });
          }}
        >
          {agent}
        </LinkButton>
        <span className="cw-muted cw-path">{path}</span>
      </th>
      <td>{result.suite}</td>
      <td>
        <span className={`cw-state cw-mod-${state}`}>{stateWords(state, trans)}</span>
      </td>
      <Numbers result={result} />
      <td className="cw-number">{numbers === null ? '' : failuresIn(numbers)}</td>
      <td className="cw-when">{formatMoment(result.modified_at)}</td>
    </tr>
  );
});

function Numbers({ result: { numbers, problem } }: { readonly result: Result }) {
  const trans = useTrans();
  if (numbers === null) {
    return (
      <td colSpan={3} className="cw-muted">
        {problem === '' ? trans.__('Counting …') : problem}
      </td>
    );
  }
  return (
    <>
      <td>
        <Share estimate={numbers.share} />
        <span className="cw-muted cw-path">
          {trans.__('%1 of %2', numbers.passed, numbers.total)}
        </span>
        {earnsParts(numbers) && (
          <span className="cw-path">
            {trans.__('Points')} <Interval estimate={numbers.points} format={percent} />
          </span>
        )}
      </td>
      <td>
        <Interval estimate={numbers.cost_each} format={dollars} />
      </td>
      <td>
        <Interval estimate={numbers.seconds_each} format={formatSeconds} />
      </td>
    </>
  );
}
