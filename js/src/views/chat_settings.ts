import * as React from 'react';

import { ChatSettings } from '../models/chat_settings';
import type { Chat, Panel } from './ports';
import { useSignal } from './signal';

/** What the server keeps with a chat, read for each chat that is shown. */
export function useChatSettings(panel: Panel, chat: Chat): ChatSettings {
  const settings = React.useMemo(() => new ChatSettings(panel.rest, chat), [panel, chat]);
  const id = useSignal(chat.changed, () => chat.id);
  const isOpen = useSignal(panel.linkChanged, () => panel.link === 'open');
  React.useEffect(() => {
    settings.watch();
    return () => {
      settings.unwatch();
    };
  }, [settings]);
  React.useEffect(() => {
    if (isOpen) {
      void settings.refresh();
    }
  }, [settings, id, isOpen]);
  return settings;
}
