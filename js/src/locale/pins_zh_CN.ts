/** What the panel says of pinned turns and of text filters, in Simplified Chinese. */
export const PINS_CHINESE: Readonly<Record<string, string>> = {
  Pin: '固定',
  Pinned: '已固定',
  "Keep this turn in the model's context however long the chat gets":
    '无论对话多长，都将这一轮保留在模型的上下文中',
  'Unpin: older turns are summed up when the context is full':
    '取消固定：上下文用满后会概括较早的轮次',
  'Pinned turns': '已固定的轮次',
  '%1 turn pinned': '已固定 %1 轮',
  'A turn of this chat': '此对话中的一轮',
  Unpin: '取消固定',
  'Unpin %1': '取消固定 %1',
  'Before your words are sent': '发送您的文字之前',
  'Windows line ends become plain ones': '将 Windows 换行符变为普通换行符',
  'Terminal colours are taken out': '去掉终端颜色代码',
  'At most one blank line in a row': '连续的空行最多保留一行',
  'Code between fences is never changed.': '围栏之间的代码从不更改。'
};
