import { OutputArea, OutputAreaModel, SimplifiedOutputArea } from '@jupyterlab/outputarea';
import type { IOutput } from '@jupyterlab/nbformat';
import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { DisposableDelegate } from '@lumino/disposable';
import { Widget } from '@lumino/widgets';

import type { DrawOutputs } from './outputs_view';

/** Outputs as JupyterLab draws those of a notebook that nobody trusted: nothing of them runs. */
export function outputDrawer(rendermime: IRenderMimeRegistry): DrawOutputs {
  return (host, outputs) => {
    const model = new OutputAreaModel({ trusted: false, values: outputs as unknown as IOutput[] });
    const area = new SimplifiedOutputArea({
      model,
      rendermime,
      contentFactory: OutputArea.defaultContentFactory
    });
    Widget.attach(area, host);
    return new DisposableDelegate(() => {
      area.dispose();
      model.dispose();
    });
  };
}
