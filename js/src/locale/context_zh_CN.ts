/** What the panel says of a chat's context, in Simplified Chinese. */
export const CONTEXT_CHINESE: Readonly<Record<string, string>> = {
  'What it holds, about': '下一次请求开头的大致内容',
  'A request costs %1 for it, %2 from the cache.': '每次请求为此花费 %1，来自缓存时 %2。',
  'Summary of older turns': '较早轮次的摘要',
  'The ring beside the send button shows the summary that stands for them.':
    '发送按钮旁的圆环会显示代替它们的摘要。',
  'All turns are still there.': '所有轮次都还在。',
  'Your words in it; they stay': '您写在其中的话；会一直保留',
  Instructions: '指令',
  Tools: '工具',
  Questions: '问题',
  'Put beside questions': '附在问题旁的内容',
  Answers: '回答',
  'Calls of tools': '工具调用',
  'Results of tools': '工具结果',
  Pictures: '图片',
  'Older turns are summed up soon.': '较早的轮次即将被概括。',
  'Older turns are summed up when it is full.': '用满后会概括较早的轮次。'
};
