/** What the panel says of notes that wait, in Simplified Chinese. */
export const NOTES_CHINESE: Readonly<Record<string, string>> = {
  'Add without sending: it goes with your next question (Alt+Enter)':
    '添加但不发送：随下一个问题一起发出（Alt+Enter）',
  'Added. It goes with your next question.': '已添加，将随下一个问题一起发出。',
  'Goes with your next question': '随下一个问题一起发出',
  Answer: '回答',
  Instruction: '指令',
  'Notes that went with it': '随问题一起发出的备注',
  'Take back': '取回'
};
