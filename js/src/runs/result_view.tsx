import * as React from 'react';

import { formatCount, formatDollars, formatSeconds } from '../models/figures';
import { Complaint } from '../pages/notes';
import { useTrans } from '../views/scope';
import { useSignal } from '../views/signal';
import type { GroupNumbers, ResultNumbers } from './answers';
import { Interval, Share } from './interval';
import type { RunsPage } from './runs_page';
import type { SampleList } from './sample_list';
import { SamplesTable } from './samples_table';
import { dollars, percent, runStatusWords } from './words';

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

function ResultSum({ numbers }: { readonly numbers: ResultNumbers }) {
  const trans = useTrans();
  const groups = Object.entries(numbers.by_group);
  const { cost_dollars: cost } = numbers;
  return (
    <section className="cw-sum" aria-label={trans.__('Sum')}>
      <dl className="cw-facts">
        <Fact name={trans.__('Passed')}>
          <Share estimate={numbers.share} />
          <span className="cw-muted">{trans.__('%1 of %2', numbers.passed, numbers.total)}</span>
        </Fact>
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
  const failed = Object.values(numbers.failures).reduce((sum, count) => sum + count, 0);
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

function Groups({ groups }: { readonly groups: readonly (readonly [string, GroupNumbers])[] }) {
  const trans = useTrans();
  return (
    <details className="cw-groups" open={groups.length <= 8}>
      <summary>{trans.__('By group')}</summary>
      <table className="cw-table">
        <thead>
          <tr>
            <th scope="col">{trans.__('Group')}</th>
            <th scope="col">{trans.__('Passed')}</th>
            <th scope="col" className="cw-number">
              {trans.__('Samples')}
            </th>
          </tr>
        </thead>
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
