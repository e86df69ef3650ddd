import { beforeEach, describe, expect, it, vi } from 'vitest';

import { RunsRest } from '../../../src/client/runs_rest';
import { filtered, ResultList, SampleList } from '../../../src/pages/runs/result_list';
import { ComparisonModel, RunList, SampleModel } from '../../../src/pages/runs/runs_page';
import { FakeServer } from '../../fake_socket';
import { compared, comparison, numbers, place, row, run, sample } from './answers';

const A = 'runs/1/a/demo';
const B = 'runs/1/b/demo';

let server: FakeServer;
let rest: RunsRest;

beforeEach(() => {
  server = new FakeServer();
  rest = new RunsRest(server.settings);
});

/** What was asked of a route, as the values of one parameter. */
function asked(path: string, parameter: string): readonly (string | null)[] {
  return server.requests
    .filter(request => request.path === path)
    .map(({ query }) => query.get(parameter));
}

function serveResults(...paths: readonly string[]): void {
  const version = paths.join();
  server.routes.set('GET results', ({ query }) => ({
    version,
    results: query.get('since') === version ? null : paths.map(path => place(path)),
    is_cut: false
  }));
  server.routes.set('GET results/summary', ({ query }) =>
    numbers(query.get('result')?.split('/')[2] ?? '')
  );
}

describe('results', () => {
  it('are listed, then summed up one after another', async () => {
    serveResults(A, B);
    const list = new ResultList(rest);
    await list.refresh();
    expect(list.state.results.map(({ numbers: found }) => found?.agent)).toEqual(['a', 'b']);
    expect(asked('results/summary', 'result')).toEqual([A, B]);
  });

  it('are not summed up again while nothing changed, and do not keep the server awake', async () => {
    serveResults(A);
    const list = new ResultList(rest);
    await list.refresh();
    await list.refresh();
    expect(asked('results', 'since')).toEqual([null, A]);
    expect(asked('results/summary', 'result')).toEqual([A]);
    expect(asked('results', 'no_track_activity')).toEqual(['1', '1']);
  });

  it('are summed up anew when they grew, but rest as long as that is work', async () => {
    serveResults(A);
    const list = new ResultList(rest);
    await list.refresh();
    server.routes.set('GET results', () => ({
      version: 'new',
      results: [place(A, { version: 'new' })],
      is_cut: true
    }));
    const now = vi.spyOn(Date, 'now').mockReturnValue(0);
    await list.refresh();
    expect(asked('results/summary', 'result')).toEqual([A]);
    now.mockRestore();
    await expect
      .poll(async () => {
        await list.refresh();
        return asked('results/summary', 'result');
      })
      .toEqual([A, A]);
    expect(list.state.isCut).toBe(true);
  });

  it('say why one cannot be summed up, and go on with the next', async () => {
    serveResults(A, B);
    server.routes.set('GET results/summary', ({ query }) =>
      query.get('result') === A
        ? Response.json({ message: 'Too large.', hint: 'Use the command.' }, { status: 400 })
        : numbers('b')
    );
    const list = new ResultList(rest);
    await list.refresh();
    expect(list.state.results.map(({ problem }) => problem)).toEqual([
      'Too large. Use the command.',
      ''
    ]);
    expect(list.state.results[1]?.numbers?.agent).toBe('b');
  });

  it('are filtered by what they are', async () => {
    serveResults(A, B);
    const list = new ResultList(rest);
    await list.refresh();
    const shown = (): readonly string[] => filtered(list.state).map(({ path }) => path);
    for (const [change, expected] of [
      [{ text: 'B-model demo' }, [B]],
      [{ text: '', agent: 'a' }, [A]],
      [{ agent: '', model: 'b-model' }, [B]],
      [{ model: '', state: 'going' }, []],
      [{ state: 'done', suite: 'demo' }, [A, B]]
    ] as const) {
      list.setFilter(change);
      expect(shown()).toEqual(expected);
    }
  });

  it('are chosen two at most, the one chosen first goes, and none that is gone', async () => {
    const c = 'runs/1/c/demo';
    serveResults(A, B, c);
    const list = new ResultList(rest);
    await list.refresh();
    [A, B, c].forEach(path => {
      list.choose(path);
    });
    expect(list.state.chosen).toEqual([B, c]);
    list.choose(c);
    expect(list.state.chosen).toEqual([B]);
    serveResults(A);
    await list.refresh();
    expect(list.state.chosen).toEqual([]);
  });

  it('that cannot be listed for a while leave no complaint behind', async () => {
    serveResults(A);
    const list = new ResultList(rest);
    await list.refresh();
    server.routes.set('GET results', () => Response.json({ message: 'Not now.' }, { status: 500 }));
    await list.look();
    expect(list.state).toMatchObject({ problem: 'Not now.', results: [{ path: A }] });
    serveResults(A);
    await list.look();
    expect(list.state.problem).toBe('');
  });

  it('of another folder replace those before, and a folder that cannot be meant is told', async () => {
    serveResults(A);
    const list = new ResultList(rest);
    await list.refresh();
    server.routes.set('GET results', () => Response.json({ message: 'No.' }, { status: 400 }));
    await list.setFolder('..');
    expect(list.state).toMatchObject({ folder: '..', results: [], problem: 'No.', isLoaded: true });
    expect(asked('results', 'folder')).toEqual(['runs', '..']);
  });
});

describe('recorded runs', () => {
  const page = (ids: readonly string[], version: string, after: string | null = null) => ({
    version,
    runs: ids.map(id => run(id)),
    after,
    statuses: ['completed'],
    models: ['one'],
    lanes: ['panel']
  });
  const ids = (list: RunList): readonly string[] => list.state.runs.map(({ id }) => id);

  it('come page by page; a newer one goes on top and what was read stays', async () => {
    const list = new RunList(rest);
    server.routes.set('GET runs', () => page(['c', 'b'], '1', 'b'));
    await list.refresh();
    expect(list.state.hasMore).toBe(true);
    server.routes.set('GET runs', () => page(['a'], '1'));
    await list.more();
    expect([ids(list), list.state.hasMore]).toEqual([['c', 'b', 'a'], false]);
    server.routes.set('GET runs', () => page(['d', 'c'], '2', 'c'));
    await list.refresh();
    expect([ids(list), list.state.hasMore]).toEqual([['d', 'c', 'b', 'a'], false]);
    expect(asked('runs', 'after')).toEqual([null, 'b', null]);
    server.routes.set('GET runs', () => ({ version: '2', runs: null }));
    await list.refresh();
    expect(ids(list)).toEqual(['d', 'c', 'b', 'a']);
  });

  it('are asked for anew with another filter', async () => {
    const list = new RunList(rest);
    server.routes.set('GET runs', () => page(['a'], '1'));
    await list.refresh();
    server.routes.set('GET runs', () => page(['b'], '1'));
    await list.setFilter({ status: 'completed', query: 'wheat' });
    expect(ids(list)).toEqual(['b']);
    expect(asked('runs', 'since')).toEqual([null, null]);
    expect(asked('runs', 'query')).toEqual([null, 'wheat']);
  });

  it('that cannot be read leave a complaint until they can', async () => {
    const list = new RunList(rest);
    await list.refresh();
    expect(list.state.problem).toBe('Not Found');
    server.routes.set('GET runs', () => page(['a'], '1'));
    await list.refresh();
    expect(list.state.problem).toBe('');
  });
});

describe('samples', () => {
  const serve = (all: readonly string[], version = '1'): void => {
    server.routes.set('GET results/samples', ({ query }) => {
      const start = Number(query.get('start'));
      return {
        version,
        samples: all.slice(start, start + 2).map(index => row(index)),
        next: start + 2 < all.length ? start + 2 : null,
        fitting: all.length,
        total: all.length,
        statuses: ['completed'],
        groups: []
      };
    });
  };
  const indices = (list: SampleList): readonly string[] =>
    list.state.samples.map(({ index }) => index);

  it('come page by page and follow what is added, as far as they are shown', async () => {
    const list = new SampleList(rest, A);
    serve(['1', '2', '3']);
    await list.follow('1');
    expect([indices(list), list.state.hasMore]).toEqual([['1', '2'], true]);
    await list.more();
    expect([indices(list), list.state.hasMore]).toEqual([['1', '2', '3'], false]);
    serve(['1', '2', '3', '4', '5'], '2');
    await list.follow('2');
    expect([indices(list), list.state.hasMore]).toEqual([['1', '2', '3', '4'], true]);
    const count = server.requests.length;
    await list.follow('2');
    expect(server.requests).toHaveLength(count);
  });

  it('begin at the first page with another filter', async () => {
    const list = new SampleList(rest, A);
    serve(['1', '2', '3']);
    await list.follow('1');
    await list.more();
    await list.setFilter({ outcome: 'failed' });
    expect(indices(list)).toEqual(['1', '2']);
    expect(asked('results/samples', 'outcome').at(-1)).toBe('failed');
  });

  it('say why they cannot be read', async () => {
    const list = new SampleList(rest, A);
    await list.follow('1');
    expect(list.state).toMatchObject({ problem: 'Not Found', isLoaded: true });
  });

  it('are read again with the next look where they could not be read', async () => {
    const list = new SampleList(rest, A);
    await list.follow('1');
    serve(['1']);
    await list.follow('1');
    expect(indices(list)).toEqual(['1']);
    expect(list.state.problem).toBe('');
  });

  it('hear nothing of a failure to read what is not asked for any more', async () => {
    let fail = (): void => undefined;
    const late = new Promise<never>((_, reject) => {
      fail = () => {
        reject(new Error('too late'));
      };
    });
    serve(['1']);
    const slow: Pick<RunsRest, 'samples'> = {
      samples: (result, filter, ...others) =>
        filter.query === 'a' ? late : rest.samples(result, filter, ...others)
    };
    const list = new SampleList(slow, A);
    const first = list.setFilter({ query: 'a' });
    await list.setFilter({ query: 'ab' });
    fail();
    await first;
    expect(list.state.problem).toBe('');
  });
});

describe('one sample', () => {
  it('is read whole, and what went wrong is told', async () => {
    server.routes.set('GET results/sample', ({ query }) => sample(query.get('id') ?? ''));
    const model = new SampleModel(() => rest.sample(A, 'demo/1/1'));
    await model.refresh();
    expect(model.state.sample?.id).toBe('demo/1/1');
    const gone = new SampleModel(() => rest.runSample('r1'));
    await gone.refresh();
    expect(gone.state).toEqual({ sample: null, problem: 'Not Found' });
  });

  it('of another shape is refused', async () => {
    server.routes.set('GET runs/r1/sample', () => ({ ...sample('r1'), cells: [{}] }));
    await expect(rest.runSample('r1')).rejects.toThrow('cells[0]');
  });

  it('tells nobody any more once it is gone', async () => {
    server.routes.set('GET runs/r1/sample', () => sample('r1'));
    const model = new SampleModel(() => rest.runSample('r1'));
    const changes: unknown[] = [];
    model.changed.connect(() => changes.push(1));
    model.dispose();
    await model.refresh();
    expect(changes).toEqual([]);
    expect(model.state.sample).toBeNull();
  });
});

describe('a comparison', () => {
  it('comes page by page', async () => {
    server.routes.set('GET results/compare', ({ query }) =>
      query.get('start') === '0'
        ? comparison([compared('1', 'worse')], 1)
        : comparison([compared('2', 'same')])
    );
    const model = new ComparisonModel(rest, A, B);
    await model.refresh();
    expect(model.state.hasMore).toBe(true);
    await model.more();
    expect(model.state.rows.map(({ index }) => index)).toEqual(['1', '2']);
    model.show('worse');
    expect(model.state.shown).toBe('worse');
  });

  it('says why it cannot be made', async () => {
    const model = new ComparisonModel(rest, A, B);
    await model.refresh();
    expect(model.state.problem).toBe('Not Found');
  });
});
