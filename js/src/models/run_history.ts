import type { RecordedEvent, RunEvent } from '../events';
import type { ReceivedEvent } from './chat';

/** What does nothing to a notebook. */
const ELSEWHERE: ReadonlySet<RunEvent['kind']> = new Set([
  'state_captured',
  'model_asked',
  'text_delta',
  'reasoning_delta',
  'model_retrying',
  'model_silent',
  'model_replied',
  'notice'
]);

/** The events of a run that goes on, for a notebook that gets them late. */
export class RunHistory {
  constructor(readonly run: string) {}

  /** What came, in order. */
  get events(): readonly ReceivedEvent[] {
    return this._events;
  }

  /** Some of it happened while this page was not listening. */
  get hasReplay(): boolean {
    return this._events.some(({ isReplay }) => isReplay);
  }

  get isFinished(): boolean {
    return this._events.at(-1)?.recorded.event.kind === 'run_finished';
  }

  add(received: ReceivedEvent): void {
    this._events.push(received);
  }

  private readonly _events: ReceivedEvent[] = [];
}

/** Whether an event is of any interest to a notebook. */
export function isForNotebook({ event }: RecordedEvent): boolean {
  return !ELSEWHERE.has(event.kind);
}
