import { nullTranslator } from '@jupyterlab/translation';
import { describe, expect, it } from 'vitest';

import { NoticeBoard, noticesOf, type Circumstances } from '../../src/chat/notices';
import type { ServiceState } from '../../src/client/panel_rest';

const trans = nullTranslator.load('cellwright');

const SERVICE: ServiceState = {
  model: 'm',
  base_url: '',
  has_key: true,
  key_source: 'environment',
  is_demo: false,
  notice: '',
  mode: 'ask',
  modes: ['ask'],
  models_allowed: [],
  endpoints_locked: false,
  recording: true,
  warnings: [],
  parameters: {}
};

const FINE: Circumstances = {
  link: 'open',
  ownVersion: '1.0.0',
  serverVersion: '1.0.0',
  isBuffered: false,
  isBlocked: false,
  service: SERVICE,
  isDrivenElsewhere: false,
  closedNotebook: ''
};

function codes(change: Partial<Circumstances>): string[] {
  return noticesOf({ ...FINE, ...change }, trans).map(({ code }) => code);
}

describe('notices', () => {
  it('are none when all is well, or when nothing is known yet', () => {
    expect(codes({})).toEqual([]);
    expect(codes({ link: 'connecting', serverVersion: '', service: null })).toEqual([]);
  });

  it.each<[string, Partial<Circumstances>]>([
    ['version_mismatch', { serverVersion: '1.0.1' }],
    ['version_mismatch', { link: 'wrong_version' }],
    ['refused', { link: 'refused' }],
    ['blocked_sockets', { isBlocked: true }],
    ['buffering_proxy', { isBuffered: true }],
    ['driven_elsewhere', { isDrivenElsewhere: true }],
    ['notebook_closed', { closedNotebook: 'work.ipynb' }],
    ['not_recording', { service: { ...SERVICE, recording: false } }],
    ['service', { service: { ...SERVICE, warnings: ['A key was ignored.'] } }],
    ['service', { service: { ...SERVICE, notice: 'The demo model answers.' } }]
  ])('tell of %s', (code, change) => {
    expect(codes(change)).toEqual([code]);
  });

  it('say both versions and what to do', () => {
    const [notice] = noticesOf({ ...FINE, serverVersion: '1.0.1' }, trans);
    expect(notice?.text).toContain('1.0.0');
    expect(notice?.text).toContain('1.0.1');
    expect(notice?.action).toContain('reload');
  });

  it('are told of only when one is another', () => {
    const board = new NoticeBoard(trans);
    const told: number[] = [];
    board.changed.connect((_, notices) => told.push(notices.length));
    board.update(FINE);
    board.update({ ...FINE, isBuffered: true });
    board.update({ ...FINE, isBuffered: true });
    board.update(FINE);
    expect(told).toEqual([1, 0]);
  });
});
