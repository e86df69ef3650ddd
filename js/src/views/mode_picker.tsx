import * as React from 'react';

import type { Mode } from '../server/frames';
import { Icon } from './icon';
import { Menu } from './menu';
import { useTrans } from './scope';
import { modeWords } from './words';

interface ModePickerProps {
  readonly mode: Mode;
  /** Those an administrator allows. */
  readonly modes: readonly Mode[];
  readonly onChoose: (mode: Mode) => void;
}

/** What the agent may do without asking. Auto stays marked for as long as it holds. */
export function ModePicker({ mode, modes, onChoose }: ModePickerProps) {
  const trans = useTrans();
  const { name, description } = modeWords(mode, trans);
  return (
    <Menu
      label={trans.__('Mode: %1. %2', name, description)}
      className={`cw-picker cw-mod-${mode}`}
      side="above"
      entries={modes.map(entry => ({
        key: entry,
        label: modeWords(entry, trans).name,
        description: modeWords(entry, trans).description,
        isChecked: entry === mode,
        onChoose: () => {
          onChoose(entry);
        }
      }))}
    >
      {mode === 'auto' && <Icon name="warning" />}
      <span>{name}</span>
      <Icon name="chevron_down" />
    </Menu>
  );
}
