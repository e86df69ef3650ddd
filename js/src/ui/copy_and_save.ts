/** Ways out of the page: the clipboard, and the browser's downloads. */
import * as React from 'react';

import type { TranslationBundle } from '@jupyterlab/translation';

/** Hand a file to the browser's downloads. */
export function saveAs(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName(name);
  link.click();
  // The browser has taken it over once the click is done with.
  setTimeout(() => {
    URL.revokeObjectURL(url);
  });
}

/** Without what file systems do not allow in names. */
export function fileName(name: string): string {
  return name.replace(/[\\/:*?"<>|\p{Cc}]+/gu, '-').slice(-120);
}

/** Put a text on the clipboard; also on a page without TLS, which has no `navigator.clipboard`. */
async function copyText(text: string): Promise<void> {
  // Typed as always there; it is not.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard !== undefined) {
    await clipboard.writeText(text);
    return;
  }
  const copy = (event: ClipboardEvent): void => {
    event.preventDefault();
    event.stopImmediatePropagation();
    event.clipboardData?.setData('text/plain', text);
  };
  document.addEventListener('copy', copy, true);
  try {
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- there is nothing else here
    if (!document.execCommand('copy')) {
      throw new Error('The browser does not let this page copy.');
    }
  } finally {
    document.removeEventListener('copy', copy, true);
  }
}

const SHOWN_MILLISECONDS = 1500;

type CopyOutcome = '' | 'copied' | 'failed';

interface Copying {
  readonly outcome: CopyOutcome;
  /** What the button says now. */
  readonly words: string;
  readonly copy: (text: string) => void;
}

/** Copies a text and says so for a moment. */
export function useCopy(label: string, trans: TranslationBundle): Copying {
  const [outcome, setOutcome] = React.useState<CopyOutcome>('');
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
  const words = { '': label, copied: trans.__('Copied'), failed: trans.__('Could not copy') };
  return {
    outcome,
    words: words[outcome],
    copy: text => {
      copyText(text).then(
        () => {
          setOutcome('copied');
        },
        () => {
          setOutcome('failed');
        }
      );
    }
  };
}
