import * as React from 'react';

import type { Chat, Panel } from './ports';
import { useSignal } from './signal';

/** A chat's own instructions. */
export interface ChatInstructions {
  /** Empty: it has none, and those of the assistant count. */
  readonly text: string;
  /** Keep these; rejects when the server does not take them. */
  readonly save: (text: string) => Promise<void>;
}

/** Read for each chat that is shown, and again when it changed: other tabs change them too. */
export function useChatInstructions(panel: Panel, chat: Chat): ChatInstructions {
  const [known, setKnown] = React.useState({ id: '', text: '' });
  const id = useSignal(chat.changed, () => chat.id);
  const isOpen = useSignal(panel.linkChanged, () => panel.link === 'open');
  const asked = React.useRef(0);
  React.useEffect(() => {
    if (!isOpen || id === '') {
      return;
    }
    const look = (): void => {
      if (chat.state.run === '') {
        const turn = ++asked.current;
        panel.rest.chat(id).then(
          ({ prompt = '' }) => {
            // A later question, or what was saved meanwhile, is the one that counts.
            if (turn === asked.current) {
              setKnown({ id, text: prompt });
            }
          },
          () => undefined // an older server does not tell
        );
      }
    };
    look();
    chat.stateReceived.connect(look);
    return () => {
      asked.current += 1;
      chat.stateReceived.disconnect(look);
    };
  }, [panel, chat, id, isOpen]);
  return {
    text: known.id === id ? known.text : '',
    save: async text => {
      const prompt = text.trim();
      const begun = await chat.begin();
      await panel.rest.changeChat(begun, { prompt });
      asked.current += 1;
      setKnown({ id: begun, text: prompt });
    }
  };
}
