/** What all pages in the main area say, in Simplified Chinese; loaded with them. */
export const PAGES_CHINESE: Readonly<Record<string, string>> = {
  'Parts of the page': '页面的各部分',
  'Reading …': '正在读取…',
  'Show more': '显示更多',
  All: '全部',
  State: '状态',
  Tokens: 'Token',
  Cost: '成本',
  From: '来源',
  '%1 of %2': '%1 / %2'
};
