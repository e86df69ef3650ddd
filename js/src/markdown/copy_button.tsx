import * as React from 'react';

import { copyText } from './clipboard';
import { useScope } from './scope';

const SHOWN_MILLISECONDS = 1500;

interface CopyCodeProps {
  readonly text: string;
  readonly label: string;
}

/** Copies a text and says so for a moment. */
export function CopyCode({ text, label }: CopyCodeProps) {
  const { trans } = useScope();
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
    copyText(text).then(
      () => {
        setOutcome('copied');
      },
      () => {
        setOutcome('failed');
      }
    );
  };
  const words = { '': label, copied: trans.__('Copied'), failed: trans.__('Could not copy') };
  return (
    <button type="button" className="cw-md-button" onClick={copy}>
      {words[outcome]}
    </button>
  );
}
