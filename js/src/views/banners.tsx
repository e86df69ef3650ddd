import * as React from 'react';

import type { ChatSettings } from '../models/chat_settings';
import type { LinkState, NoticeBlock } from '../models/types';
import { Button, IconButton } from './button';
import { useDelay } from './clock';
import { Icon } from './icon';
import { OpenNotebookButton } from './opening';
import type { Chat, Panel } from './ports';
import { useTrans } from './scope';
import { useSignal } from './signal';

/** A line that is back sooner is nothing to speak of. */
const LOST_AFTER_MILLISECONDS = 1200;

/** The notice that the chat's notebook is closed, and the server's refusal of a prompt for it. */
const CLOSED = 'notebook_closed';

interface BannersProps {
  readonly panel: Panel;
  readonly chat: Chat;
  readonly settings: ChatSettings;
}

/** What holds for the panel as a whole: the line, versions, records, other tabs. */
export function Banners({ panel, chat, settings }: BannersProps) {
  const trans = useTrans();
  const notices = useSignal(panel.noticesChanged, () => panel.notices);
  const isDemo = useSignal(panel.serviceChanged, () => panel.service?.is_demo ?? false);
  const link = useSignal(panel.linkChanged, () => panel.link);
  const panelProblem = useSignal(panel.problemChanged, () => panel.problem);
  const chatProblem = useSignal(chat.changed, () => chat.problem);
  const settingsProblem = useSignal(settings.changed, () => settings.problem);
  // The card about the demo model says the same and more.
  const shown = notices.filter(
    ({ code, level }) => !(isDemo && code === 'service' && level === 'info')
  );
  return (
    <div className="cw-banners">
      <LinkBanner link={link} panel={panel} />
      {shown.map(notice => (
        <Banner key={`${notice.code}:${notice.text}`} notice={notice}>
          {notice.code === 'driven_elsewhere' && <TakeOverButton chat={chat} />}
          {notice.code === CLOSED && <OpenNotebookButton path={chat.state.notebook_path} />}
        </Banner>
      ))}
      {[
        { problem: chatProblem, source: chat },
        { problem: settingsProblem, source: settings },
        { problem: panelProblem, source: panel }
      ].map(
        ({ problem, source }, index) =>
          problem !== null &&
          problem.code !== 'disabled' &&
          !(problem.code === CLOSED && notices.some(({ code }) => code === CLOSED)) && (
            <Banner
              key={index}
              notice={{
                kind: 'notice',
                level: 'error',
                code: problem.code,
                text: problem.message,
                action: problem.hint
              }}
            >
              <IconButton
                icon="close"
                label={trans.__('Close this message')}
                onClick={() => {
                  source.clearProblem();
                }}
              />
            </Banner>
          )
      )}
    </div>
  );
}

interface BannerProps {
  readonly notice: NoticeBlock;
  readonly children?: React.ReactNode;
}

export function Banner({ notice, children }: BannerProps) {
  return (
    <div className={`cw-banner cw-mod-${notice.level}`} role="status">
      <Icon name={notice.level} />
      <div className="cw-banner-text">
        <span>{notice.text}</span>
        {notice.action !== '' && <span className="cw-muted">{notice.action}</span>}
      </div>
      {children}
    </div>
  );
}

function LinkBanner({ link, panel }: { link: LinkState; panel: Panel }) {
  const trans = useTrans();
  const isLost = link === 'connecting' || link === 'waiting' || link === 'closed';
  const isLasting = useDelay(String(isLost), LOST_AFTER_MILLISECONDS);
  if (!isLost || !isLasting) {
    return null;
  }
  const text =
    link === 'connecting' ? trans.__('Connecting to the server …') : trans.__('Connection lost.');
  const action = trans.__('Runs go on in the server; what you missed comes when it is back.');
  return (
    <Banner
      notice={{
        kind: 'notice',
        level: 'warning',
        code: 'link',
        text,
        action: link === 'connecting' ? '' : action
      }}
    >
      <Button
        icon="retry"
        onClick={() => {
          panel.reconnect();
        }}
      >
        {trans.__('Reconnect')}
      </Button>
    </Banner>
  );
}

function TakeOverButton({ chat }: { chat: Chat }) {
  const trans = useTrans();
  return (
    <span className="cw-row">
      <Button
        icon="stop"
        onClick={() => {
          chat.stop();
        }}
      >
        {trans.__('Stop')}
      </Button>
      <Button
        title={trans.__('Insert the cells here, once the other tab is closed')}
        onClick={() => {
          chat.drive();
        }}
      >
        {trans.__('Take over')}
      </Button>
    </span>
  );
}
