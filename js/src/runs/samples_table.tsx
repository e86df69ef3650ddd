import * as React from 'react';

import { formatCount, formatDollars, formatSeconds } from '../models/figures';
import { choicesOf, Chooser, SearchField } from '../pages/fields';
import { Head } from '../pages/head';
import { Complaint, Nothing } from '../pages/notes';
import { ShowMore } from '../pages/show_more';
import { useTrans } from '../views/scope';
import { useSignal } from '../views/signal';
import type { SampleRow } from './answers';
import { OutcomeMark } from './outcome_mark';
import type { SampleFilter } from './requests';
import type { RunsPage } from './runs_page';
import type { SampleList } from './sample_list';
import { type Outcome, outcomeOf, outcomeWords, runStatusWords } from './words';

const OUTCOMES: readonly Outcome[] = ['passed', 'failed', 'unscored'];

interface SamplesTableProps {
  readonly page: RunsPage;
  readonly list: SampleList;
}

/** The samples of a result: find some, open one. */
export function SamplesTable({ page, list }: SamplesTableProps) {
  const trans = useTrans();
  const state = useSignal(list.changed, () => list.state);
  const { samples, fitting, total, hasMore, isLoaded, problem, sorting } = state;
  const hasEpochs = samples.some(({ epoch }) => epoch > 1);
  return (
    <section aria-label={trans.__('Samples')}>
      <SampleFilters list={list} />
      <Complaint text={problem} />
      <p className="cw-muted cw-page-count" role="status">
        {fitting === total
          ? trans._n('%1 sample', '%1 samples', total)
          : trans.__('%1 of %2 samples', fitting, total)}
      </p>
      {samples.length > 0 && (
        <table className="cw-table">
          <Head
            columns={[
              { key: 'sample', label: trans.__('Sample'), sorts: 'smallest' },
              { key: 'outcome', label: trans.__('Outcome'), sorts: 'smallest' },
              { key: 'status', label: trans.__('Status'), sorts: 'smallest' },
              { key: 'why', label: trans.__('Why'), sorts: 'smallest' },
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
            {samples.map(sample => (
              <SampleRowView
                key={sample.id}
                page={page}
                result={list.result}
                sample={sample}
                hasEpochs={hasEpochs}
              />
            ))}
          </tbody>
        </table>
      )}
      <ShowMore isThere={hasMore} onMore={() => list.more()} />
      {samples.length === 0 && isLoaded && problem === '' && (
        <Nothing>{trans.__('No sample fits')}</Nothing>
      )}
    </section>
  );
}

function SampleFilters({ list }: { readonly list: SampleList }) {
  const trans = useTrans();
  const { filter, statuses, groups } = useSignal(list.changed, () => list.state);
  return (
    <div className="cw-filters" role="search" aria-label={trans.__('Filter the samples')}>
      <SearchField
        label={trans.__('Search samples')}
        value={filter.query}
        onSearch={query => {
          void list.setFilter({ query });
        }}
      />
      <Chooser
        label={trans.__('Outcome')}
        value={filter.outcome}
        choices={OUTCOMES.map(value => ({ value, label: outcomeWords(value, trans) }))}
        onChoose={value => {
          void list.setFilter({ outcome: value as SampleFilter['outcome'] });
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
        label={trans.__('Group')}
        value={filter.group}
        choices={choicesOf(groups)}
        onChoose={group => {
          void list.setFilter({ group });
        }}
      />
    </div>
  );
}

interface SampleRowViewProps {
  readonly page: RunsPage;
  readonly result: string;
  readonly sample: SampleRow;
  readonly hasEpochs: boolean;
}

const SampleRowView = React.memo(function Row({
  page,
  result,
  sample,
  hasEpochs
}: SampleRowViewProps) {
  const trans = useTrans();
  const { cost_dollars: cost, group, input } = sample;
  return (
    <tr>
      <th scope="row">
        <button
          type="button"
          className="cw-row-link"
          onClick={() => {
            page.go({ kind: 'sample', sample: { result, id: sample.id } });
          }}
        >
          {sample.index}
        </button>{' '}
        {hasEpochs && <span className="cw-muted">{trans.__('try %1', sample.epoch)}</span>}{' '}
        <span className="cw-muted">{group}</span>
        <span className="cw-muted cw-path cw-one-line">{input}</span>
      </th>
      <td>
        <OutcomeMark outcome={outcomeOf(sample)} />
      </td>
      <td>{runStatusWords(sample.status, trans)}</td>
      <td className="cw-why">{sample.why}</td>
      <td className="cw-number">{formatSeconds(sample.seconds)}</td>
      <td className="cw-number">{formatCount(sample.tokens)}</td>
      <td className="cw-number">{cost === null ? '–' : formatDollars(cost)}</td>
    </tr>
  );
});
