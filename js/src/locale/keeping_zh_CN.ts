/** What the page of memory, library, usage and tools says, in Simplified Chinese. */
export const KEEPING_CHINESE: Readonly<Record<string, string>> = {
  // The page and its parts
  Memory: '记忆',
  Library: '资料库',
  Usage: '用量',
  Tools: '工具',
  'This server does not have it yet.': '此服务器尚未提供此功能。',

  // Memory
  'What the agent is told about you and your work in later chats. Nothing is remembered without your consent.':
    '在以后的对话中告诉智能体的关于您和您的工作的信息。未经您同意，不会记住任何内容。',
  'Search memories': '搜索记忆',
  Fact: '事实',
  'New fact': '新事实',
  'Such as: prices are in euros': '例如：价格以欧元计',
  'Holds for': '适用于',
  'All projects': '所有项目',
  'This project': '此项目',
  'Project %1': '项目 %1',
  'Remember things': '记住内容',
  'Facts go along with your prompts, and the agent may propose new ones.':
    '事实会随您的提示一起发送，智能体可能会建议新的事实。',
  'What is here stays, but is not used, and nothing new is proposed.':
    '这里的内容会保留，但不会使用，也不会建议新内容。',
  You: '您',
  'A run': '一次运行',
  Changed: '更改时间',
  'Change or forget': '更改或忘记',
  'Change "%1"': '更改“%1”',
  'Forget "%1"': '忘记“%1”',
  'Forget this for good?': '永久忘记此内容？',
  Forget: '忘记',
  Add: '添加',
  'Nothing is remembered. Add a fact here, or ask the agent to remember one.':
    '尚未记住任何内容。请在此添加事实，或让智能体记住。',
  'No memory fits': '没有符合的记忆',
  'The agent proposes %1 change': '智能体建议 %1 项更改',
  Remember: '记住',
  Change: '更改',
  Accept: '接受',
  'Accept "%1"': '接受“%1”',
  'Reject "%1"': '拒绝“%1”',

  // Library
  'Documents that the agent looks things up in. It names the places that an answer rests on.':
    '智能体查阅的文档。它会指出答案所依据的位置。',
  'File, folder or address': '文件、文件夹或地址',
  'Such as: notes, paper.pdf': '例如：notes、paper.pdf',
  'Add to the library': '添加到资料库',
  'Reading documents': '正在读取文档',
  'Reading %1 of %2: %3': '正在读取第 %1 个，共 %2 个：%3',
  Documents: '文档',
  Document: '文档',
  Kind: '种类',
  Passages: '段落',
  'Found by': '检索方式',
  'Words and meaning': '词语和语义',
  Words: '词语',
  Read: '读取时间',
  'Take it out of the library? The file stays.': '将其移出资料库？文件会保留。',
  Remove: '移除',
  'Remove "%1"': '移除“%1”',
  'The library is empty. Add a folder with notes, papers or notebooks, or drop files here.':
    '资料库为空。请添加包含笔记、论文或笔记本的文件夹，或将文件拖放到此处。',
  'Upload files': '上传文件',
  'Uploading files': '正在上传文件',
  'Uploading %1 of %2: %3': '正在上传第 %1 个，共 %2 个：%3',
  Uploaded: '已上传',
  'Drop files to add them': '拖放文件以添加',
  'It is larger than 20 MB. Put it into a folder of the server and add that.':
    '文件大于 20 MB。请将其放入服务器上的文件夹，然后添加该文件夹。',
  Libraries: '资料库',
  'Remove all documents': '移除所有文档',
  '%1 document': '%1 个文档',
  'Take %1 document out of the library? Files in folders stay.':
    '将 %1 个文档移出资料库？文件夹中的文件会保留。',
  'Take it out of the library? What was uploaded goes too.': '将其移出资料库？上传的内容也会删除。',
  'Search the library': '搜索资料库',
  '%1 passage': '%1 个段落',
  'No passage fits': '没有符合的段落',

  // Usage
  'What the runs on this machine have used. Prices are those of the settings.':
    '此计算机上各次运行的用量。价格以设置为准。',
  'Add up by': '汇总方式',
  Month: '月份',
  Assistant: '助手',
  Plot: '图',
  Chat: '对话',
  Run: '运行',
  'No assistant': '无助手',
  'No chat': '无对话',
  Unknown: '未知',
  Requests: '请求',
  'Tokens in': '输入 Token',
  Cached: '缓存',
  'Tokens out': '输出 Token',
  'Nothing has been used yet.': '尚无用量。',
  Budgets: '预算',
  'What a month may take. Runs stop when it is used up.': '每月可用的额度。用完后运行会停止。',
  'Budget of a month': '每月预算',
  'Dollars a month': '每月美元',
  'Tokens a month': '每月 Token',
  'No limit': '无限制',
  'A limit is a number, or nothing': '限制应为数字或留空',
  Set: '设置',
  '%1 call has no known price and does not count.': '%1 次调用的价格未知，未计入。',
  '%1 of %2 in %3': '%3：已用 %1，共 %2',
  'Used up': '已用完',

  // Tools
  "Tools that were added to the agent's own, from functions, MCP servers and HTTP services.":
    '在智能体自带工具之外添加的工具，来自函数、MCP 服务器和 HTTP 服务。',
  Tool: '工具',
  'What it does': '作用',
  'No tool was added. "%agent tool connect" adds some.':
    '尚未添加工具。可用“%agent tool connect”添加。',
  On: '开',
  Off: '关'
};
