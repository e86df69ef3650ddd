/** What the page of memory, library, usage, tools and assistants says, in Simplified Chinese. */
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
  Off: '关',

  // the list and the form of assistants
  // The list
  'Instructions, a model and tools under a name. Choose one beside the prompt, or begin a prompt with @ and its name. Each is a file that a project can carry.':
    '一个名称下的指令、模型和工具。在提示旁选择一个，或以 @ 加其名称开始提示。每个助手都是项目可以携带的文件。',
  'There is none yet. Write one for work that comes again: a reviewer, a plotter, one that answers in your language.':
    '还没有助手。为反复出现的工作编写一个：审阅者、绘图者，或用您的语言回答的助手。',
  'New assistant': '新建助手',
  'Not saved': '未保存',
  'Guests too': '访客可用',
  'As it is set': '按设置',
  '"%1" is saved.': '已保存“%1”。',
  '"%1" is deleted.': '已删除“%1”。',
  'Beside the notebook': '笔记本旁',
  Project: '项目',
  'Your own, in every project': '您自己的，用于所有项目',

  // The form
  'All assistants': '所有助手',
  Name: '名称',
  'Such as: reviewer': '例如：reviewer',
  'Where its file is': '文件位置',
  'Shown where it is chosen': '在选择时显示',
  'What the model is told with every prompt': '随每个提示告诉模型的内容',
  'As the provider has it': '按提供方的默认值',
  'How the model is talked with': '与模型通信的方式',
  'Function calls': '函数调用',
  'Marked text': '带标记的文本',
  'The set model, or another one for pictures and long chats.':
    '使用所设模型；遇到图片和长对话时使用另一个模型。',
  'All tools': '所有工具',
  'Only these': '仅这些',
  'Name or pattern of a tool': '工具的名称或模式',
  'Such as: read_*, run_cell': '例如：read_*、run_cell',
  'None is named: it can only talk.': '未指定：只能对话。',
  'All documents': '所有文档',
  None: '无',
  'Name, place or pattern of a document': '文档的名称、位置或模式',
  'Such as: prices.md, papers/*': '例如：prices.md、papers/*',
  'None is named: it looks nothing up.': '未指定：不查阅任何文档。',
  'Take out "%1"': '移除“%1”',
  'How it works': '工作方式',
  'Remembers across chats': '跨对话记忆',
  'Facts that are remembered go along, and it may propose new ones.':
    '记住的事实会随提示发送，它也可以建议新的事实。',
  'Our advice how to work': '我们的工作建议',
  'Stands before its own instructions.': '位于它自己的指令之前。',
  'May look into the web': '可以查阅网络',
  'With tools that do so, where there are any.': '在有此类工具时使用它们。',
  'Answers where no other is chosen': '未选择其他助手时由它回答',
  '"@cellwright" in front of a prompt asks without it.': '在提示前加“@cellwright”则不使用它。',
  'Guests may choose it': '访客可以选择它',
  'Guests are told what you had it remember': '告诉访客您让它记住的内容',
  'What guests say is never remembered.': '访客所说的内容不会被记住。',
  'On a server that people share.': '在多人共用的服务器上。',
  Duplicate: '复制',
  '%1 copy': '%1 副本',
  '%1 copy %2': '%1 副本 %2',

  // Scenes
  Scenes: '场景',
  'More instructions for one kind of situation. A label that begins with data, plot or debug is chosen by what goes on in the notebook, any other one when the prompt says it.':
    '针对一种情形的更多指令。以 data、plot 或 debug 开头的标签按笔记本中的情况选择，其他标签在提示中提到时选择。',
  'Add a scene': '添加场景',
  'Scene %1': '场景 %1',
  '%1 scenes are as many as can be.': '最多 %1 个场景。',
  Label: '标签',
  'Such as: plot': '例如：plot',
  'What it is told then': '此时告诉它的内容',
  'Remove the scene "%1"': '移除场景“%1”',
  'Only when: %1. The file says so; it is changed there.': '仅当：%1。由文件规定，请在文件中更改。',
  'the prompt says': '提示中有',
  'imported:': '已导入：',
  'a variable is of type': '有变量的类型为',
  'the error says': '错误中有',

  // What is wrong, and what is asked
  'This is needed.': '此项为必填。',
  '%1 characters, at most %2 are allowed.': '共 %1 个字符，最多允许 %2 个。',
  'A number from 0.1 to 1, or nothing.': '0.1 到 1 之间的数字，或留空。',
  'Counts as %1: it goes from 0.1 to 1.': '按 %1 计：范围为 0.1 到 1。',
  'Letters, digits, "-", "_", "." and blanks, the first one a letter or a digit.':
    '字母、数字、“-”、“_”、“.”和空格，首个字符为字母或数字。',
  'There is an assistant of this name in this place.': '此位置已有同名助手。',
  'There is one of this name in another place: %1. The nearer one counts.':
    '另一位置有同名助手：%1。以较近的为准。',
  'There are two scenes with this label.': '有两个场景使用此标签。',
  'The file of this assistant was changed meanwhile, so nothing was saved. What you typed is kept.':
    '此助手的文件已被更改，因此未保存。您输入的内容已保留。',
  'Load it again': '重新加载',
  'The file of this assistant is not there any more. What you typed is kept: "Duplicate" makes a new assistant of it.':
    '此助手的文件已不存在。您输入的内容已保留：“复制”可用它新建助手。',
  'Changed here and in the file: %1. What you typed counts when you save.':
    '此处和文件中都已更改：%1。保存时以您输入的内容为准。',
  'In the file now:': '文件中现在为：',
  Nothing: '无内容',
  'Take this': '采用',
  'Take what the file has: %1': '采用文件中的内容：%1',
  Yes: '是',
  No: '否',
  'Discard what you typed?': '放弃您输入的内容？',
  'Delete "%1" with its file? What it said in chats stays.':
    '删除“%1”及其文件？它在对话中说过的内容会保留。'
};
