import type { JupyterFrontEnd } from '@jupyterlab/application';
import { showErrorMessage } from '@jupyterlab/apputils';
import { PageConfig } from '@jupyterlab/coreutils';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { NotebookPort, NotebookRegistry } from '../chat/notebooks';
import { OPEN_RUNS } from '../command_ids';
import type { Opener } from '../ui/opening';

const OPEN_DOCUMENT = 'docmanager:open';
const WAIT_MILLISECONDS = 10_000;

/** Opens runs, documents and cells of notebooks in this window. */
export function openerOf(
  app: JupyterFrontEnd,
  notebooks: NotebookRegistry | null,
  trans: TranslationBundle
): Opener {
  const { commands } = app;
  return {
    run: commands.hasCommand(OPEN_RUNS)
      ? run => {
          void commands.execute(OPEN_RUNS, { run });
        }
      : null,
    place: (place, anchor = '') => {
      const path = documentAt(place, PageConfig.getOption('serverRoot'));
      if (path === '' || !commands.hasCommand(OPEN_DOCUMENT)) {
        return null;
      }
      return () => {
        commands.execute(OPEN_DOCUMENT, { path }).then(
          () => {
            if (anchor.startsWith('cell ') && notebooks !== null) {
              reveal(notebooks, path, anchor.slice('cell '.length));
            }
          },
          (error: unknown) => {
            // It was moved or deleted outside of JupyterLab. `messageOf` would load requests at
            // JupyterLab's start.
            const message = error instanceof Error ? error.message : String(error);
            void showErrorMessage(trans.__('Cannot open %1', path), message);
          }
        );
      };
    }
  };
}

/** Homes of people; the server calls its own `~`. */
const HOME = /^(?:\/home\/[^/]+|\/Users\/[^/]+|\/root|[A-Za-z]:\/Users\/[^/]+)(?=\/)/u;

/**
 * The path of a document in the file browser; empty: the server does not show it.
 *
 * @param place - A path, from the server's folder on or whole.
 * @param root - The server's folder, where it says it.
 */
export function documentAt(place: string, root: string): string {
  const path = pathBelow(withSlashes(place), withSlashes(root).replace(/\/+$/u, ''));
  return path.split('/').includes('..') ? '' : path;
}

/** A path from the root on; empty: it lies elsewhere. */
function pathBelow(file: string, root: string): string {
  if (!/^(?:\/|~|[A-Za-z]:\/)/u.test(file)) {
    return file.replace(/^\.\//u, '');
  }
  const home = HOME.exec(file)?.[0] ?? '~';
  const whole = root.replace(/^~(?=\/|$)/u, home);
  return whole !== '' && file.startsWith(`${whole}/`) ? file.slice(whole.length + 1) : '';
}

function withSlashes(path: string): string {
  return path.replaceAll('\\', '/');
}

/** Go to a cell, now or once its notebook stands. */
function reveal(notebooks: NotebookRegistry, path: string, cell: string): void {
  const port = notebooks.find(path);
  if (port !== null) {
    port.reveal(cell);
    return;
  }
  const onAdded = (_: NotebookRegistry, added: NotebookPort): void => {
    if (added.path === path) {
      stop();
      added.reveal(cell);
    }
  };
  const timer = setTimeout(() => {
    stop();
  }, WAIT_MILLISECONDS);
  const stop = (): void => {
    clearTimeout(timer);
    notebooks.added.disconnect(onAdded);
  };
  notebooks.added.connect(onAdded);
}
