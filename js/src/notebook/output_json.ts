import type { IOutput } from '@jupyterlab/nbformat';

import type { DisplayData, ErrorOutput, ExecuteResult } from '../events';

/** What is an output of its own; the other messages change outputs or are joined to one. */
export type LastingOutput = DisplayData | ExecuteResult | ErrorOutput;

/** An output as the file format has it. */
export function toOutput(message: LastingOutput): IOutput {
  switch (message.kind) {
    case 'error': {
      const { ename, evalue, traceback } = message;
      return { output_type: 'error', ename, evalue, traceback: [...traceback] };
    }
    case 'display_data':
      return { output_type: 'display_data', ...bundle(message) };
    case 'execute_result': {
      const count = message.execution_count;
      return { output_type: 'execute_result', execution_count: count, ...bundle(message) };
    }
  }
}

/** The id under which later messages change it; empty: none. */
export function displayId(message: LastingOutput): string {
  return 'display_id' in message ? message.display_id : '';
}

function bundle({ data, metadata }: DisplayData | ExecuteResult): Pick<IOutput, string> {
  return { data, metadata };
}
