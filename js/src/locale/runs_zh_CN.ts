/** What leads to the pages in the main area, in Simplified Chinese; each brings its own texts. */
export const RUNS_CHINESE: Readonly<Record<string, string>> = {
  'Runs and Benchmarks': '运行与基准测试',
  'Look at recorded runs and at results of benchmarks': '查看已记录的运行和基准测试结果',
  'A recorded run to show': '要显示的已记录的运行',
  'The path of a result to show': '要显示的结果的路径',
  Runs: '运行',
  More: '更多',
  'Memory, Library and Usage': '记忆、资料库与用量',
  'See and change what the agent remembers, looks up and has used':
    '查看并更改智能体的记忆、查阅的资料和用量',
  'The part of the page to show': '要显示的页面部分',
  'The assistant to change; empty: a new one': '要更改的助手；留空：新建',
  'Path of the notebook whose assistants are meant': '助手所属笔记本的路径'
};
