import { describe, expect, it } from 'vitest';

import { generate } from '../../wire/generate.mjs';
import text from '../../wire/openapi.json?raw';
import written from '../../src/wire/generated?raw';
import type { SchemaTypes } from '../../src/wire/generated';
import { parseFrame } from '../../src/wire/frames';
import { recordedEvent, shape } from '../../src/wire/shapes';

function numbered(event: object) {
  return { sequence: 1, time: 1, event };
}

const EXECUTION = { status: 'ok', duration_seconds: 1 };

it('is made of what Python wrote: run `make wire`', async () => {
  expect(await generate(text)).toBe(written);
}, 60_000);

describe('an event', () => {
  it('of an older record has the defaults of what is missing, at every depth', () => {
    const item = numbered({ kind: 'cell_finished', cell_id: 'a', execution: { ...EXECUTION } });
    expect(recordedEvent(item, 'events')).toBe('');
    expect(item.event).toMatchObject({ execution: { waited_seconds: 0, rss_bytes: null } });
  });

  it('never shares its defaults with another', () => {
    const [one, other] = [numbered({ kind: 'state_captured' }), numbered({ kind: 'run_started' })];
    const started = { prompt: 'x', lane: 'panel', mode: 'ask', parameters: { model: 'm' } };
    Object.assign(one.event, { kind: 'run_started', ...started });
    Object.assign(other.event, started);
    expect([recordedEvent(one, ''), recordedEvent(other, '')]).toEqual(['', '']);
    const filesOf = (item: typeof one): unknown => (item.event as SchemaTypes['RunStarted']).files;
    expect(filesOf(one)).toEqual([]);
    expect(filesOf(one)).not.toBe(filesOf(other));
  });

  it.each([
    ['a kind', { kind: 'brand_new', of: 'interest' }],
    ['a field', { kind: 'text_delta', text: 'a', colour: 'red' }],
    ['an output', { kind: 'cell_output', cell_id: 'a', message: { kind: 'hologram' } }],
    [
      'a word in a value of its own',
      { kind: 'cell_finished', cell_id: 'a', execution: { ...EXECUTION, status: 'paused' } }
    ]
  ])('passes with %s that only a newer server knows', (_, event) => {
    expect(recordedEvent(numbered(event), 'events')).toBe('');
  });

  it.each([
    ['status', { kind: 'run_finished', status: 'melted' }, 'run_finished.status is "melted"'],
    ['cell_id', { kind: 'cell_started' }, 'cell_started.cell_id is missing, not a text'],
    ['kind', { text: 'a' }, 'kind is missing, not a text'],
    [
      'reasons',
      { kind: 'cell_output', cell_id: 'a', message: { kind: 'stream', name: 'stdout', text: [] } },
      'text is [], not a text'
    ]
  ])('does not pass with a wrong %s', (_, event, complaint) => {
    expect(recordedEvent(numbered(event), 'events')).toContain(complaint);
  });
});

describe('a frame', () => {
  it('has the defaults of what an older server leaves out', () => {
    const { frame } = parseFrame('{"type": "chat", "state": {"id": "c1"}}');
    expect(frame).toMatchObject({ state: { queue: [], input: null, phase: 'idle' } });
  });

  it('is left out when it says a word that nobody can draw', () => {
    const { frame, complaint } = parseFrame('{"type":"chat","state":{"id":"c","phase":"nap"}}');
    expect(frame).toBeNull();
    expect(complaint).toContain('phase is "nap", not one of idle, starting');
  });
});

it('reads what may be null', () => {
  const asked = { id: 'c', input: { request: 'r', prompt: 7 } };
  expect(shape('ChatState')(asked, 'state')).toBe('state.input.prompt is 7, not a text');
  expect(shape('ChatState')({ id: 'c', input: null }, 'state')).toBe('');
});
