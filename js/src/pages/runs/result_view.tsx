import * as React from 'react';

import type {
  CheckNumbers,
  GroupNumbers,
  ResultNumbers,
  SampleFilter,
  SampleRow
} from '../../client/runs_rest';
import { LinkButton } from '../../ui/button';
import { formatCount, formatDollars, formatSeconds } from '../../ui/figures';
import { useSignal, useTrans } from '../../ui/hooks';
import { SearchField } from '../../ui/search_field';
import { choicesOf, Chooser } from '../controls';
import { Complaint, Empty, Head, ShowMore } from '../table';
import { failuresIn, type SampleList } from './result_list';
import type { RunsPage } from './runs_page';
import {
  dollars,
  earnsParts,
  Interval,
  type Outcome,
  OutcomeMark,
  outcomeOf,
  outcomeWords,
  percent,
  runStatusWords,
  Share
} from './words';

const OUTCOMES: readonly Outcome[] = ['passed', 'failed', 'unscored'];

interface SamplesTableProps {
  readonly page: RunsPage;
  readonly list: SampleList;
}

/** The samples of a result: find some, open one. */
function SamplesTable({ page, list }: SamplesTableProps) {
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
      {samples.length === 0 && (
        <Empty state={{ isLoaded, problem }}>{trans.__('No sample fits')}</Empty>
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

const SampleRowView = React.memo(function SampleRowView({
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
        <LinkButton
          onClick={() => {
            page.go({ kind: 'sample', sample: { result, id: sample.id } });
          }}
        >
          {sample.index}
        </LinkButton>{' '}
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

interface ResultViewProps {
  readonly page: RunsPage;
  readonly samples: SampleList;
}

/** One result: what it comes to, and its samples. */
export function ResultView({ page, samples }: ResultViewProps) {
  const list = page.results;
  const { results } = useSignal(list.changed, () => list.state);
  const result = results.find(({ path }) => path === samples.result);
  return (
    <div className="cw-page-scroller cw-page-detail">
      <Complaint text={result?.problem ?? ''} />
      {result?.numbers && <ResultSum numbers={result.numbers} />}
      <SamplesTable page={page} list={samples} />
    </div>
  );
}

/** A value lies this many standard errors from its mean, or nearer, in 95 of 100 cases. */
const TWO_ERRORS = 1.96;

function ResultSum({ numbers }: { readonly numbers: ResultNumbers }) {
  const trans = useTrans();
  const groups = Object.entries(numbers.by_group);
  const checks = Object.entries(numbers.by_check);
  const { cost_dollars: cost } = numbers;
  return (
    <section className="cw-sum" aria-label={trans.__('Sum')}>
      <dl className="cw-facts">
        <Fact name={trans.__('Passed')}>
          <Share estimate={numbers.share} />
          <span className="cw-muted">{trans.__('%1 of %2', numbers.passed, numbers.total)}</span>
          {numbers.variance && (
            <span className="cw-muted">
              {trans.__('run again: ±%1', percent(TWO_ERRORS * numbers.variance.rerun_error))}
            </span>
          )}
        </Fact>
        {earnsParts(numbers) && (
          <Fact name={trans.__('Points')}>
            <Share estimate={numbers.points} />
          </Fact>
        )}
        {Object.entries(numbers.at_k).map(([name, estimate]) => (
          <Fact key={name} name={name}>
            <Interval estimate={estimate} format={percent} />
          </Fact>
        ))}
        <Fact name={trans.__('Cost of a sample')}>
          <Interval estimate={numbers.cost_each} format={dollars} />
          {cost !== null && (
            <span className="cw-muted">{trans.__('%1 in all', formatDollars(cost))}</span>
          )}
        </Fact>
        <Fact name={trans.__('Time of a sample')}>
          <Interval estimate={numbers.seconds_each} format={formatSeconds} />
          <span className="cw-muted">{trans.__('%1 in all', formatSeconds(numbers.seconds))}</span>
        </Fact>
        <Fact name={trans.__('Tokens')}>{formatCount(numbers.tokens)}</Fact>
        <Fact name={trans.__('Status')}>
          {Object.entries(numbers.by_status)
            .map(([status, count]) => `${runStatusWords(status, trans)}: ${String(count)}`)
            .join(' · ')}
        </Fact>
      </dl>
      <NotRunList numbers={numbers} />
      {checks.length > 0 && <Checks checks={checks} />}
      {groups.length > 1 && <Groups groups={groups} />}
    </section>
  );
}

interface FactProps {
  readonly name: string;
  readonly children: React.ReactNode;
}

function Fact({ name, children }: FactProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** What counts in no share: the infrastructure failed, or a check did. */
function NotRunList({ numbers }: { readonly numbers: ResultNumbers }) {
  const trans = useTrans();
  const failed = failuresIn(numbers);
  return (
    <>
      {numbers.check_errors > 0 && (
        <p className="cw-page-note">
          {trans._n(
            '%1 sample has a check that failed to run; it counts as not passed.',
            '%1 samples have a check that failed to run; they count as not passed.',
            numbers.check_errors
          )}
        </p>
      )}
      {numbers.unreadable > 0 && (
        <p className="cw-page-note">
          {trans._n(
            '%1 line of the file is no sample and is left out.',
            '%1 lines of the file are no samples and are left out.',
            numbers.unreadable
          )}
        </p>
      )}
      {failed > 0 && (
        <details className="cw-page-note">
          <summary>
            {trans._n(
              '%1 sample could not be run and is in no share.',
              '%1 samples could not be run and are in no share.',
              failed
            )}
          </summary>
          <ul>
            {numbers.not_run.map(({ index, epoch, error, info }) => (
              <li key={`${index}/${String(epoch)}`}>
                <code>{index}</code> {error}: {info}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function Checks({ checks }: { readonly checks: readonly (readonly [string, CheckNumbers])[] }) {
  const trans = useTrans();
  return (
    <details className="cw-groups">
      <summary>{trans.__('By check')}</summary>
      <table className="cw-table">
        <Head
          columns={[
            { key: 'check', label: trans.__('Check') },
            { key: 'passed', label: trans.__('Passed'), isNumber: true },
            { key: 'points', label: trans.__('Points') }
          ]}
        />
        <tbody>
          {checks.map(([name, found]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td className="cw-number">{trans.__('%1 of %2', found.passed, found.count)}</td>
              <td>
                <Share estimate={found} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function Groups({ groups }: { readonly groups: readonly (readonly [string, GroupNumbers])[] }) {
  const trans = useTrans();
  return (
    <details className="cw-groups" open={groups.length <= 8}>
      <summary>{trans.__('By group')}</summary>
      <table className="cw-table">
        <Head
          columns={[
            { key: 'group', label: trans.__('Group') },
            { key: 'passed', label: trans.__('Passed') },
            { key: 'samples', label: trans.__('Samples'), isNumber: true }
          ]}
        />
        <tbody>
          {groups.map(([name, { value, low, high, total }]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <Share estimate={{ value, low, high, method: 'group', count: total }} />
              </td>
              <td className="cw-number">{total}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
