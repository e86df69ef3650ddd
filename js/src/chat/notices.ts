import type { TranslationBundle } from '@jupyterlab/translation';

import { Signal, type ISignal } from '@lumino/signaling';

import type { ServiceState } from '../client/panel_rest';
import type { LinkState } from '../client/socket';
import type { NoticeBlock } from './types';

/** What the notices are made of. */
export interface Circumstances {
  readonly link: LinkState;
  readonly ownVersion: string;
  /** Empty: not known yet. */
  readonly serverVersion: string;
  readonly isBuffered: boolean;
  readonly isBlocked: boolean;
  readonly service: ServiceState | null;
  readonly isDrivenElsewhere: boolean;
  /** Path of the chat's notebook, where that is not open; empty: it is, or there is none. */
  readonly closedNotebook: string;
}

/** The notices there are now; tells of a change only when one is another. */
export class NoticeBoard {
  constructor(trans: TranslationBundle) {
    this._trans = trans;
  }

  get notices(): readonly NoticeBlock[] {
    return this._notices;
  }

  get changed(): ISignal<this, readonly NoticeBlock[]> {
    return this._changed;
  }

  update(now: Circumstances): void {
    const notices = noticesOf(now, this._trans);
    if (JSON.stringify(notices) !== JSON.stringify(this._notices)) {
      this._notices = notices;
      this._changed.emit(notices);
    }
  }

  private readonly _trans: TranslationBundle;
  private readonly _changed = new Signal<this, readonly NoticeBlock[]>(this);
  private _notices: readonly NoticeBlock[] = [];
}

/** What holds for the panel as a whole and what the person should know of it. */
export function noticesOf(now: Circumstances, trans: TranslationBundle): readonly NoticeBlock[] {
  return [
    ...linkNotices(now, trans),
    ...serviceNotices(now.service, trans),
    ...(now.isDrivenElsewhere ? [drivenElsewhere(trans)] : []),
    ...(now.closedNotebook === '' ? [] : [notebookClosed(now.closedNotebook, trans)])
  ];
}

function linkNotices(now: Circumstances, trans: TranslationBundle): NoticeBlock[] {
  const notices: NoticeBlock[] = [];
  const hasOtherVersion = now.serverVersion !== '' && now.serverVersion !== now.ownVersion;
  if (now.link === 'wrong_version' || hasOtherVersion) {
    notices.push(otherVersion(now, trans));
  }
  if (now.link === 'refused') {
    notices.push({
      kind: 'notice',
      level: 'error',
      code: 'refused',
      text: trans.__('The server refuses the connection.'),
      action: trans.__('Log in again, or ask whoever runs this server.')
    });
  }
  if (now.isBlocked) {
    notices.push({
      kind: 'notice',
      level: 'error',
      code: 'blocked_sockets',
      text: trans.__('Something between this page and the server stops WebSockets.'),
      action: trans.__('Let the proxy pass on "Upgrade" and "Connection" headers.')
    });
  }
  if (now.isBuffered) {
    notices.push({
      kind: 'notice',
      level: 'warning',
      code: 'buffering_proxy',
      text: trans.__('A proxy holds text back: answers come in jumps.'),
      action: trans.__('Switch off buffering for this server in the proxy.')
    });
  }
  return notices;
}

function otherVersion(now: Circumstances, trans: TranslationBundle): NoticeBlock {
  const versions = [now.ownVersion, now.serverVersion || '?'] as const;
  return {
    kind: 'notice',
    level: now.link === 'wrong_version' ? 'error' : 'warning',
    code: 'version_mismatch',
    text: trans.__('This page has cellwright %1, the server %2.', ...versions),
    action: trans.__('Restart the server, then reload this page.')
  };
}

function serviceNotices(service: ServiceState | null, trans: TranslationBundle): NoticeBlock[] {
  if (service === null) {
    return [];
  }
  const notices = service.warnings.map(text => warning('service', text, ''));
  if (service.notice !== '') {
    const action = trans.__('Another one can be chosen in Model settings.');
    notices.push({ ...warning('service', service.notice, action), level: 'info' });
  }
  if (!service.recording) {
    const text = trans.__('Runs are not kept: they are gone when the server stops.');
    notices.push(warning('not_recording', text, trans.__('See the log of the server.')));
  }
  return notices;
}

function drivenElsewhere(trans: TranslationBundle): NoticeBlock {
  return {
    kind: 'notice',
    level: 'info',
    code: 'driven_elsewhere',
    text: trans.__('Running in another tab, which inserts the cells.'),
    action: trans.__('You can read along and stop it here.')
  };
}

function notebookClosed(path: string, trans: TranslationBundle): NoticeBlock {
  const text = trans.__('The notebook of this chat, %1, is not open.', path);
  return warning('notebook_closed', text, trans.__('Open it to ask, or begin a new chat.'));
}

function warning(code: string, text: string, action: string): NoticeBlock {
  return { kind: 'notice', level: 'warning', text, action, code };
}
