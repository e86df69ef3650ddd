/** Frames from the server, checked before anybody believes them. */
import type { EventsFrame, ServerFrame } from './generated';
import { isObject, recordedEvent, shapesByTag } from './shapes';

const FRAMES = shapesByTag('ServerFrame');

/** A frame, or null, with what was wrong with it or with some of its events. */
interface ParsedFrame {
  readonly frame: ServerFrame | null;
  readonly complaint: string;
}

export function parseFrame(data: unknown): ParsedFrame {
  let value: unknown;
  try {
    value = typeof data === 'string' ? JSON.parse(data) : null;
  } catch {
    value = null;
  }
  const type = isObject(value) ? value.type : null;
  const check = FRAMES.get(type);
  if (check === undefined) {
    return { frame: null, complaint: `a frame of the unknown type ${JSON.stringify(type)}` };
  }
  // Each event is looked at on its own: a bad one does not take the others with it.
  const head = isObject(value) && Array.isArray(value.items) ? { ...value, items: [] } : value;
  const complaint = check(head, String(type));
  if (complaint !== '') {
    return { frame: null, complaint };
  }
  const frame = value as ServerFrame;
  return frame.type === 'events' ? withoutBadEvents(frame) : { frame, complaint: '' };
}

function withoutBadEvents(frame: EventsFrame): ParsedFrame {
  let complaint = '';
  const items = frame.items.filter(item => {
    const wrong = recordedEvent(item, 'events');
    complaint = complaint || wrong;
    return wrong === '';
  });
  return { frame: complaint === '' ? frame : { ...frame, items }, complaint };
}
