import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import type { Token } from '@lumino/coreutils';
import type { Widget } from '@lumino/widgets';

import type { PageHost } from './page_host';

type Plugin = JupyterFrontEndPlugin<void>;

/** A page with its host, as plugins see it. */
export interface PluggedPage<Host> {
  /** What ids of its plugins begin with. */
  readonly id: string;
  /** What it is called in sentences, such as `page of runs`. */
  readonly words: string;
  readonly host: Token<Host>;
}

/** The page where there is a main area to put it in, and its lines in the palette and launcher. */
export function pagePlugins<Content extends Widget, Host extends PageHost<Content>>(
  page: PluggedPage<Host>
): readonly Plugin[] {
  return [inMainArea(page), inPalette(page), inLauncher(page)];
}

function inMainArea<Content extends Widget, Host extends PageHost<Content>>(
  page: PluggedPage<Host>
): Plugin {
  return {
    id: page.id,
    description: `The ${page.words}.`,
    autoStart: true,
    requires: [page.host],
    optional: [ILabShell, ILayoutRestorer],
    activate: (
      _app: JupyterFrontEnd,
      host: Host,
      shell: ILabShell | null,
      restorer: ILayoutRestorer | null
    ): void => {
      if (shell === null) {
        return;
      }
      host.whileEnabled(() => host.begin());
      if (restorer !== null) {
        host.remember(restorer);
      }
    }
  };
}

function inPalette<Content extends Widget, Host extends PageHost<Content>>(
  page: PluggedPage<Host>
): Plugin {
  return {
    id: `${page.id}-palette`,
    description: `Lists the ${page.words} in the palette.`,
    autoStart: true,
    requires: [page.host, ICommandPalette],
    activate: (_app: JupyterFrontEnd, host: Host, palette: ICommandPalette): void => {
      const { command, category } = host;
      host.whileEnabled(() => palette.addItem({ command, category }));
    }
  };
}

function inLauncher<Content extends Widget, Host extends PageHost<Content>>(
  page: PluggedPage<Host>
): Plugin {
  return {
    id: `${page.id}-launcher`,
    description: `Puts the ${page.words} into the launcher.`,
    autoStart: true,
    requires: [page.host, ILauncher],
    activate: (_app: JupyterFrontEnd, host: Host, launcher: ILauncher): void => {
      const { command, category } = host;
      host.whileEnabled(() => launcher.add({ command, category }));
    }
  };
}
