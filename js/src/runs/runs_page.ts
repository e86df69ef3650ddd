import { WatchedPage } from '../pages/watched_page';
import { ComparisonModel } from './comparison_model';
import type { RunsRest } from './requests';
import { ResultList } from './result_list';
import { RunList } from './run_list';
import { type SampleChoice, SampleList } from './sample_list';
import { SampleModel } from './sample_model';

const POLL_MILLISECONDS = 2000;

/** One sample of a result. */
export interface SampleName {
  readonly result: string;
  readonly id: string;
}

/** What the page shows. */
export type RunsPlace =
  | { readonly kind: 'results' | 'plot' | 'runs' }
  | { readonly kind: 'result'; readonly result: string }
  | { readonly kind: 'sample'; readonly sample: SampleName }
  | { readonly kind: 'run'; readonly run: string }
  | { readonly kind: 'comparison'; readonly first: string; readonly second: string }
  | { readonly kind: 'pair'; readonly first: SampleName; readonly second: SampleName };

/** What a place needs besides the two lists. */
export type Detail =
  | { readonly kind: 'none' }
  | { readonly kind: 'samples'; readonly samples: SampleList }
  | { readonly kind: 'sample'; readonly sample: SampleModel }
  | { readonly kind: 'comparison'; readonly comparison: ComparisonModel }
  | { readonly kind: 'pair'; readonly first: SampleModel; readonly second: SampleModel };

export interface RunsPageState {
  /** Where the person came from; the last one is what is shown. */
  readonly trail: readonly RunsPlace[];
  readonly detail: Detail;
}

const START: RunsPlace = { kind: 'results' };
const RUNS: RunsPlace = { kind: 'runs' };

/** The page: where in it the person is, and what is read for that. */
export class RunsPage extends WatchedPage<RunsPageState> {
  constructor(rest: RunsRest) {
    super({ trail: [START], detail: { kind: 'none' } }, 'cellwright:runs', POLL_MILLISECONDS);
    this._rest = rest;
    this.results = new ResultList(rest);
    this.runs = new RunList(rest);
  }

  readonly results: ResultList;
  readonly runs: RunList;

  get place(): RunsPlace {
    return this.state.trail.at(-1) ?? START;
  }

  /** Show something; the tabs begin anew, everything else leads further in. */
  go(place: RunsPlace): void {
    const isTab = place.kind === 'results' || place.kind === 'plot' || place.kind === 'runs';
    const { trail } = this.state;
    // Whoever comes from elsewhere to a run finds the other runs behind it.
    const isElsewhere = place.kind === 'run' && trail[0]?.kind !== 'runs';
    this._show(isTab ? [place] : [...(isElsewhere ? [RUNS] : trail), place]);
  }

  /** Show what was shown before. */
  back(): void {
    if (this.state.trail.length > 1) {
      this._show(this.state.trail.slice(0, -1));
    }
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.results.dispose();
      this.runs.dispose();
      this._drop();
      super.dispose();
    }
  }

  private _show(trail: readonly RunsPlace[]): void {
    this._drop();
    this.set({ trail, detail: this._open(trail.at(-1) ?? START) });
    this.lookNow();
  }

  private _open(place: RunsPlace): Detail {
    switch (place.kind) {
      case 'results':
      case 'plot':
      case 'runs':
        return { kind: 'none' };
      case 'result':
        return { kind: 'samples', samples: this._samples(place.result) };
      case 'sample':
        return { kind: 'sample', sample: this._sample(place.sample) };
      case 'run': {
        const sample = new SampleModel(() => this._rest.runSample(place.run));
        void sample.refresh();
        return { kind: 'sample', sample };
      }
      case 'comparison': {
        const comparison = new ComparisonModel(this._rest, place.first, place.second);
        void comparison.refresh();
        return { kind: 'comparison', comparison };
      }
      case 'pair':
        return {
          kind: 'pair',
          first: this._sample(place.first),
          second: this._sample(place.second)
        };
      default:
        return place satisfies never;
    }
  }

  /** The samples of a result as the person chose and sorted them last. */
  private _samples(result: string): SampleList {
    return new SampleList(this._rest, result, this._choices.get(result));
  }

  private _sample({ result, id }: SampleName): SampleModel {
    const sample = new SampleModel(() => this._rest.sample(result, id));
    void sample.refresh();
    return sample;
  }

  private _drop(): void {
    const { detail } = this.state;
    switch (detail.kind) {
      case 'none':
        break;
      case 'samples':
        this._choices.set(detail.samples.result, choiceOf(detail.samples.state));
        detail.samples.dispose();
        break;
      case 'sample':
        detail.sample.dispose();
        break;
      case 'comparison':
        detail.comparison.dispose();
        break;
      case 'pair':
        detail.first.dispose();
        detail.second.dispose();
        break;
      default:
        detail satisfies never;
    }
  }

  protected async look(): Promise<void> {
    const { kind } = this.place;
    if (kind === 'runs') {
      await this.runs.refresh();
    } else if (kind === 'results' || kind === 'plot' || kind === 'result') {
      await this.results.look();
      // Sums of large results take a while; what the person looks at does not wait for them.
      void this.results.sumUp();
    }
    await this._lookAt(this.state.detail);
  }

  private async _lookAt(detail: Detail): Promise<void> {
    if (detail.kind === 'samples') {
      const { samples } = detail;
      const { results } = this.results.state;
      const version = results.find(({ path }) => path === samples.result)?.version;
      await samples.follow(version ?? 'not listed');
    } else if (detail.kind === 'sample' && detail.sample.state.sample?.status === 'running') {
      await detail.sample.refresh();
    }
  }

  private readonly _rest: RunsRest;
  private readonly _choices = new Map<string, SampleChoice>();
}

function choiceOf({ filter, sorting }: SampleChoice): SampleChoice {
  return { filter, sorting };
}
