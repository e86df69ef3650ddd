import { KernelMessage } from '@jupyterlab/services';

import type { JsonObject, OutputMessage } from '../../events';

/** The kernel's message as a run's events carry it; null: it shows nothing new. */
export function outputMessage(message: KernelMessage.IIOPubMessage): OutputMessage | null {
  if (KernelMessage.isStreamMsg(message)) {
    const { name, text } = message.content;
    return { kind: 'stream', name, text };
  }
  if (KernelMessage.isErrorMsg(message)) {
    const { ename, evalue, traceback } = message.content;
    return { kind: 'error', ename, evalue, traceback };
  }
  if (KernelMessage.isDisplayDataMsg(message)) {
    return { kind: 'display_data', ...bundle(message.content) };
  }
  if (KernelMessage.isExecuteResultMsg(message)) {
    const { execution_count } = message.content;
    return { kind: 'execute_result', execution_count, ...bundle(message.content) };
  }
  if (KernelMessage.isClearOutputMsg(message)) {
    return { kind: 'clear_output', wait: message.content.wait };
  }
  return null;
}

type ShownOutput =
  KernelMessage.IDisplayDataMsg['content'] | KernelMessage.IExecuteResultMsg['content'];

function bundle(content: ShownOutput): {
  readonly data: JsonObject;
  readonly metadata: JsonObject;
  readonly display_id: string;
} {
  return {
    data: content.data as JsonObject,
    metadata: content.metadata as JsonObject,
    display_id: content.transient?.display_id ?? ''
  };
}
