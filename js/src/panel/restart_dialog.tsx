import * as React from 'react';

import { Dialog, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';

/** Ask whether the kernel may be restarted, and these cells be run again. */
export async function confirmsRestart(
  cells: readonly string[],
  trans: TranslationBundle
): Promise<boolean> {
  const { button } = await showDialog({
    title: trans.__('Restart the kernel and run to here?'),
    body: <RestartBody cells={cells} trans={trans} />,
    buttons: [
      Dialog.cancelButton({ label: trans.__('Cancel') }),
      Dialog.warnButton({ label: trans.__('Restart and run') })
    ]
  });
  return button.accept;
}

interface RestartBodyProps {
  readonly cells: readonly string[];
  readonly trans: TranslationBundle;
}

function RestartBody({ cells, trans }: RestartBodyProps) {
  return (
    <div className="cw-restart">
      <p>{trans.__('All variables of the kernel are lost.')}</p>
      <p>
        {cells.length === 0
          ? trans.__('Nothing had run before, so no cell runs again.')
          : trans._n(
              '%1 cell then runs again in full; files that it writes are written again:',
              '%1 cells then run again in full, in this order; files that they write are written again:',
              cells.length
            )}
      </p>
      {cells.length > 0 && (
        <ol tabIndex={0} aria-label={trans.__('Cells that run again')}>
          {cells.map((code, index) => (
            <li key={index} title={code}>
              <code>{code.trim().split('\n', 1)[0]}</code>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
