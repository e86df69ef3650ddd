/** Which chats a tab follows, and how far it has read each of them. */
import type { RecordedEvent } from '../events';
import type { ClientFrame, ServerFrame } from './frames';

type FollowFrame = Extract<ClientFrame, { type: 'follow' }>;
type EventsFrame = Extract<ServerFrame, { type: 'events' }>;

class Position {
  after: FollowFrame['after'] = null;
  /** The last sequence seen of each run. */
  readonly seen = new Map<string, number>();
}

/** Lets every event through once, whatever the server sends again. */
export class Following {
  get chats(): readonly string[] {
    return [...this._positions.keys()];
  }

  start(chat: string): void {
    if (!this._positions.has(chat)) {
      this._positions.set(chat, new Position());
    }
  }

  stop(chat: string): void {
    this._positions.delete(chat);
  }

  /** What asks for the events of a chat that were not seen yet. */
  frame(chat: string): FollowFrame {
    return { type: 'follow', chat, after: this._positions.get(chat)?.after ?? null };
  }

  /** The events of a frame that are new; none of a chat that nobody follows. */
  take(frame: EventsFrame): readonly RecordedEvent[] {
    const position = this._positions.get(frame.chat);
    if (position === undefined) {
      return [];
    }
    let last = position.seen.get(frame.run) ?? 0;
    const fresh = frame.items.filter(({ sequence }) => {
      const isNew = sequence === 0 || sequence > last;
      last = Math.max(last, sequence);
      return isNew;
    });
    if (last > 0) {
      position.seen.set(frame.run, last);
      position.after = { run: frame.run, sequence: last };
    }
    return fresh;
  }

  private readonly _positions = new Map<string, Position>();
}
