/** What leads to the page of runs, in Simplified Chinese; the page brings its own texts. */
export const RUNS_CHINESE: Readonly<Record<string, string>> = {
  'Runs and Benchmarks': '运行与基准测试',
  'Look at recorded runs and at results of benchmarks': '查看已记录的运行和基准测试结果',
  'A recorded run to show': '要显示的已记录的运行',
  'The path of a result to show': '要显示的结果的路径',
  Runs: '运行'
};
