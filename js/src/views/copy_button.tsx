import * as React from 'react';

import { copyText } from '../markdown/clipboard';
import { IconButton } from './button';
import { useTrans } from './scope';

const SHOWN_MILLISECONDS = 1500;

interface CopyButtonProps {
  /** Read when it is clicked. */
  readonly text: () => string;
  readonly label: string;
}

/** Copies a text and says so for a moment. */
export function CopyButton({ text, label }: CopyButtonProps) {
  const trans = useTrans();
  const [outcome, setOutcome] = React.useState<'' | 'copied' | 'failed'>('');
  React.useEffect(() => {
    if (outcome === '') {
      return;
    }
    const timer = setTimeout(() => {
      setOutcome('');
    }, SHOWN_MILLISECONDS);
    return () => {
      clearTimeout(timer);
    };
  }, [outcome]);
  const copy = (): void => {
    copyText(text()).then(
      () => {
        setOutcome('copied');
      },
      () => {
        setOutcome('failed');
      }
    );
  };
  const words = { '': label, copied: trans.__('Copied'), failed: trans.__('Could not copy') };
  const icons = { '': 'copy', copied: 'check', failed: 'error' } as const;
  return <IconButton icon={icons[outcome]} label={words[outcome]} onClick={copy} />;
}
