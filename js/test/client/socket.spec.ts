import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { RunEvent, ServerFrame } from '../../src/wire/generated';
import { ServerSocket } from '../../src/client/socket';
import { FakeServer } from '../fake_socket';

let server: FakeServer;
let socket: ServerSocket;

function said(text: string): RunEvent {
  return { kind: 'text_delta', text };
}

function pass(seconds: number): Promise<unknown> {
  return vi.advanceTimersByTimeAsync(seconds * 1000);
}

/** Connect, and note every text that comes. */
async function connected(): Promise<string[]> {
  socket = new ServerSocket({ settings: server.settings, version: '0.1.0', tab: 'tab-1' });
  const texts: string[] = [];
  socket.received.connect((_, frame: ServerFrame) => {
    const items = frame.type === 'events' ? frame.items : [];
    texts.push(...items.map(({ event }) => (event.kind === 'text_delta' ? event.text : '?')));
  });
  await pass(0);
  return texts;
}

function setHidden(isHidden: boolean): void {
  Object.defineProperty(document, 'hidden', { value: isHidden, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
}

beforeEach(() => {
  vi.useFakeTimers();
  server = new FakeServer();
});

afterEach(() => {
  socket.dispose();
  setHidden(false);
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe('connecting', () => {
  it('says hello with the tab and a nonce, below the base URL and with the token', async () => {
    await connected();
    expect(socket.state).toBe('open');
    expect(server.line.url).toBe('ws://127.0.0.1/user/x/cellwright/v1/socket?token=a%20b');
    const [hello] = server.sent('hello');
    expect(hello).toMatchObject({ protocol: 1, version: '0.1.0', tab: 'tab-1' });
    expect(hello?.nonce).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('gives each page a nonce of its own, and keeps it through a loss of the line', async () => {
    await connected();
    server.drop();
    await pass(1);
    socket.dispose();
    await connected();
    const [first, again, other] = server.sent('hello').map(({ nonce }) => nonce);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  it('leaves the token out where cookies do', async () => {
    const settings = { ...server.settings, appendToken: false };
    socket = new ServerSocket({ settings, version: '0.1.0', tab: 'tab-1' });
    await pass(0);
    expect(server.line.url).not.toContain('token');
  });

  it('stops at a server that speaks another protocol', async () => {
    server.protocol = 2;
    await connected();
    expect(socket.state).toBe('wrong_version');
    await pass(60);
    expect(server.sockets).toHaveLength(1);
  });

  it('stops at a server that does not take its version', async () => {
    await connected();
    const error = { type: 'error', request: '', chat: '', message: 'old', hint: 'reload' };
    server.send({ ...error, code: 'wrong_version' });
    expect(socket.state).toBe('wrong_version');
  });

  it('is refused when a request is', async () => {
    server.meeting = 'close';
    const forbidden = (): Response => Response.json({ message: 'no' }, { status: 403 });
    server.routes.set('GET service', forbidden);
    await connected();
    await pass(0.1);
    expect(socket.state).toBe('refused');
    await pass(60);
    expect(server.sockets).toHaveLength(1);
  });

  it('is refused when the server says so as it closes', async () => {
    await connected();
    server.drop(4403);
    expect(socket.state).toBe('refused');
  });

  it('tries anew after a refusal when asked to', async () => {
    await connected();
    server.drop(4403);
    socket.reconnect();
    await pass(0);
    expect(socket.state).toBe('open');
  });

  it('finds that something stops WebSockets while requests get through', async () => {
    server.meeting = 'close';
    server.routes.set('GET service', () => ({}));
    await connected();
    expect(socket.isBlocked).toBe(false);
    await pass(3);
    expect(socket.isBlocked).toBe(true);
    server.meeting = 'welcome';
    await pass(10);
    expect(socket.isBlocked).toBe(false);
  });

  it('sends nothing while the line is down, and says so', async () => {
    server.meeting = 'silent';
    await connected();
    expect(socket.send({ type: 'stop', chat: 'c1' })).toBe(false);
    expect(server.sent('stop')).toEqual([]);
  });
});

describe('coming back', () => {
  it('waits longer after each try, from a quarter of a second to eight', async () => {
    await connected();
    server.meeting = 'close';
    const start = Date.now();
    const tries: number[] = [];
    server.drop();
    for (let count = 1; tries.length < 8;) {
      await pass(0.05);
      if (server.sockets.length > count) {
        count = server.sockets.length;
        tries.push((Date.now() - start) / 1000);
      }
    }
    const waits = tries.map((time, index) => time - (tries[index - 1] ?? 0));
    const expected = [0.25, 0.5, 1, 2, 4, 8, 8, 8];
    waits.forEach((wait, index) => {
      expect(wait).toBeCloseTo(expected[index] ?? 0, 0.5);
    });
  });

  it('starts with short waits again once it was back', async () => {
    await connected();
    server.meeting = 'close';
    server.drop();
    await pass(4);
    server.meeting = 'welcome';
    await pass(8);
    expect(socket.state).toBe('open');
    server.drop();
    await pass(0.3);
    expect(socket.state).toBe('open');
  });

  it.each(['online', 'visibilitychange'])('does not wait after %s', async name => {
    await connected();
    server.meeting = 'close';
    server.drop();
    await pass(20);
    server.meeting = 'welcome';
    (name === 'online' ? window : document).dispatchEvent(new Event(name));
    await pass(0);
    expect(socket.state).toBe('open');
  });

  it('gives up a server that opens and then says nothing', async () => {
    server.meeting = 'silent';
    await connected();
    await pass(9);
    expect(server.sockets).toHaveLength(1);
    await pass(2);
    expect(server.sockets.length).toBeGreaterThan(1);
    expect(server.sockets[0]?.isClosed).toBe(true);
  });

  it('reads on after the last event it saw, and never gets one twice', async () => {
    const texts = await connected();
    socket.follow('c1');
    server.record('c1', 'r1', [said('a'), said('b')]);
    server.drop();
    server.record('c1', 'r1', [said('c')]);
    server.record('c1', 'r2', [said('d')]);
    await pass(1);
    const after = server.sent('follow').map(frame => frame.after);
    expect(after).toEqual([null, { run: 'r1', sequence: 2 }]);
    expect(texts).toEqual(['a', 'b', 'c', 'd']);
  });

  it('leaves out what a server sends again', async () => {
    const texts = await connected();
    socket.follow('c1');
    const items = server.record('c1', 'r1', [said('a'), said('b')]);
    server.send({ type: 'events', chat: 'c1', run: 'r1', items });
    expect(texts).toEqual(['a', 'b']);
  });

  it('lets through each event that is not in the record', async () => {
    const texts = await connected();
    socket.follow('c1');
    const items = [{ sequence: 0, time: 1, event: said('waiting') }];
    server.send({ type: 'events', chat: 'c1', run: 'r1', items });
    server.send({ type: 'events', chat: 'c1', run: 'r1', items });
    expect(texts).toEqual(['waiting', 'waiting']);
  });

  it('follows no more what it was told to leave', async () => {
    const texts = await connected();
    socket.follow('c1');
    socket.unfollow('c1');
    server.record('c1', 'r1', [said('a')]);
    server.drop();
    await pass(1);
    expect(texts).toEqual([]);
    expect(server.sent('follow')).toHaveLength(1);
    expect(server.sent('unfollow')).toHaveLength(1);
  });

  it('is closed for good once disposed', async () => {
    await connected();
    socket.dispose();
    window.dispatchEvent(new Event('online'));
    socket.reconnect();
    await pass(60);
    expect(socket.state).toBe('closed');
    expect(server.sockets).toHaveLength(1);
    expect(server.line.isClosed).toBe(true);
  });
});

describe('a line that is alive', () => {
  it('is pinged every 20 seconds', async () => {
    await connected();
    expect(server.sent('ping')).toHaveLength(1);
    await pass(62);
    expect(server.sent('ping')).toHaveLength(4);
    expect(server.sockets).toHaveLength(1);
  });

  it('is left for a new one when nothing answers', async () => {
    await connected();
    server.answersPings = false;
    await pass(20);
    server.answersPings = true;
    await pass(17);
    expect(server.sockets).toHaveLength(2);
    expect(socket.state).toBe('open');
  });

  it('is found dead three seconds after a sleep, and text goes on without a gap', async () => {
    const texts = await connected();
    socket.follow('c1');
    server.record('c1', 'r1', [said('a')]);
    server.answersPings = false;
    server.line.onmessage = null;
    vi.setSystemTime(Date.now() + 30_000);
    server.record('c1', 'r1', [said('b')]);
    await pass(1);
    server.answersPings = true;
    await pass(4);
    expect(socket.state).toBe('open');
    expect(texts).toEqual(['a', 'b']);
  });

  it('is not doubted while the page is hidden', async () => {
    await connected();
    setHidden(true);
    vi.setSystemTime(Date.now() + 60_000);
    await pass(1);
    expect(server.sent('ping')).toHaveLength(1);
    setHidden(false);
    expect(server.sent('ping')).toHaveLength(2);
  });
});

describe('a proxy that holds text back', () => {
  async function followed(): Promise<boolean[]> {
    await connected();
    const told: boolean[] = [];
    socket.qualityChanged.connect(() => told.push(socket.isBuffered));
    socket.follow('c1');
    return told;
  }

  function burst(start: number): void {
    for (const time of [start, start + 1, start + 3]) {
      server.record('c1', 'r1', [said('x')], time);
    }
  }

  it('is found by bursts of events that were made seconds apart', async () => {
    const told = await followed();
    burst(1000);
    await pass(1);
    expect(told).toEqual([]);
    burst(1010);
    expect(told).toEqual([true]);
  });

  it('is found by answers that come late', async () => {
    const told = await followed();
    server.answersPings = false;
    for (let count = 0; count < 2; count += 1) {
      await pass(20);
      const at = server.sent('ping').at(-1)?.at;
      await pass(3);
      server.send({ type: 'pong', at });
    }
    expect(told).toEqual([true]);
  });

  it('is forgotten once answers come in time again', async () => {
    const told = await followed();
    burst(1000);
    await pass(1);
    burst(1010);
    await pass(45);
    expect(told).toEqual([true, false]);
  });

  it('is not seen in old events that were asked for', async () => {
    for (const time of [1, 100, 200, 300]) {
      server.record('c1', `r${String(time)}`, [said('x')], time);
    }
    const told = await followed();
    expect(told).toEqual([]);
  });

  it('is not seen in what had to wait for a busy page', async () => {
    const told = await followed();
    for (const start of [1000, 1010, 1020]) {
      vi.setSystemTime(Date.now() + 3000);
      burst(start);
      await pass(1);
    }
    expect(told).toEqual([]);
  });
});

describe('frames that are wrong', () => {
  it.each([
    ['no JSON', '{'],
    ['a type nobody knows', { type: 'surprise' }],
    ['a missing field', { type: 'caught_up' }],
    ['a field of another type', { type: 'pong', at: 'now' }],
    ['no object', '[1]']
  ])('are left out with one warning: %s', async (_, frame) => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    await connected();
    server.send(frame);
    server.send(frame);
    expect(warn).toHaveBeenCalledTimes(1);
    expect(socket.state).toBe('open');
  });

  it('do not take the good events beside them along', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const texts = await connected();
    socket.follow('c1');
    const bad = { sequence: 2, time: 1, event: { kind: 'text_delta', text: 7 } };
    const items = [
      { sequence: 1, time: 1, event: said('a') },
      bad,
      { sequence: 3, time: 1, event: said('b') }
    ];
    server.send({ type: 'events', chat: 'c1', run: 'r1', items });
    expect(texts).toEqual(['a', 'b']);
    expect(warn.mock.calls[0]?.[0]).toContain('text_delta.text is 7, not a text');
  });

  it('are not those of an event that only a newer server knows', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const texts = await connected();
    socket.follow('c1');
    const items = [{ sequence: 1, time: 1, event: { kind: 'brand_new', of: 'interest' } }];
    server.send({ type: 'events', chat: 'c1', run: 'r1', items });
    expect(texts).toEqual(['?']);
    expect(warn).not.toHaveBeenCalled();
  });
});
