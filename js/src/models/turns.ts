import type { TranslationBundle } from '@jupyterlab/translation';

import type { RecordedEvent } from '../events';
import type { SupersededRun } from '../server/frames';
import { TurnFold } from './fold';
import type { Turn } from './types';

/** The turns of a chat, each folded from the events of one run. */
export class TurnList {
  constructor(trans: TranslationBundle) {
    this._trans = trans;
  }

  /** A new array when something changed; turns that did not change stay the same objects. */
  get turns(): readonly Turn[] {
    if (this._stale.size > 0) {
      const turns = [...this._turns];
      for (const index of this._stale) {
        const fold = this._folds[index];
        if (fold !== undefined) {
          turns[index] = this._placed(fold.turn);
        }
      }
      this._turns = turns;
      this._stale.clear();
    }
    return this._turns;
  }

  apply(run: string, recorded: RecordedEvent): void {
    let index = this._indexes.get(run);
    if (index === undefined) {
      index = this._folds.length;
      this._indexes.set(run, index);
      this._folds.push(new TurnFold(run, this._trans));
    }
    this._folds[index]?.apply(recorded);
    this._stale.add(index);
  }

  /** Which runs others took the place of; all others count. */
  supersede(superseded: readonly SupersededRun[]): void {
    const before = this._supersededBy;
    this._supersededBy = new Map(superseded.map(({ run, by }) => [run, by]));
    for (const [run, index] of this._indexes) {
      if (before.get(run) !== this._supersededBy.get(run)) {
        this._stale.add(index);
      }
    }
  }

  private _placed(turn: Turn): Turn {
    const supersededBy = this._supersededBy.get(turn.runId) ?? '';
    return turn.supersededBy === supersededBy ? turn : { ...turn, supersededBy };
  }

  private readonly _trans: TranslationBundle;
  private readonly _folds: TurnFold[] = [];
  private readonly _indexes = new Map<string, number>();
  private readonly _stale = new Set<number>();
  private _supersededBy: ReadonlyMap<string, string> = new Map();
  private _turns: readonly Turn[] = [];
}
