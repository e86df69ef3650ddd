"""Ways to delete, install and overwrite that must ask, and ordinary analysis that must not.

Both lists were written before the code that reads them was.
"""

from __future__ import annotations

import pytest

from cellwright.agent.code_risks import code_risks
from cellwright.agent.policy import ApprovalAnswer, Policy
from cellwright.record.events import ToolStarted
from cellwright.tools.cell_running import SeenCells
from cellwright.tools.notebook import RunCell

ASKS = {
    # Names under which a function is imported, kept or found.
    "import from": "from os import remove\nremove('a.csv')",
    "import as": "from shutil import rmtree as r\nr('data')",
    "only imported": "from os import unlink",
    "module as": "import os as o\no.remove('a.csv')",
    "module as, only imported": "import os as o",
    "star import": "from os import *\nremove('a.csv')",
    "star import of shutil": "from shutil import *\nrmtree('data')",
    "assignment": "import shutil\nr = shutil.rmtree\nr('data')",
    "assignment of a module": "import os\nsystem = os\nsystem.remove('a.csv')",
    "two assignments": "import os\na = os\nb = a.unlink\nb('a.csv')",
    "tuple assignment": "import os, shutil\nx, y = 1, os.remove\ny('a')",
    "walrus": "import os\n(f := os.rmdir)('data')",
    "getattr": "import os\ngetattr(os, 'remove')('a.csv')",
    "getattr of pieces": "import os\ngetattr(os, 're' + 'move')('a.csv')",
    "getattr of a name": "import os\nname = 'remove'\ngetattr(os, name)('a.csv')",
    "getattr of what is not known": "import os\ngetattr(os, names[0])('a.csv')",
    "vars": "import os\nvars(os)['remove']('a.csv')",
    "dict of a module": "import shutil\nshutil.__dict__['rmtree']('data')",
    "sys.modules": "import sys\nsys.modules['os'].remove('a.csv')",
    "__import__": "__import__('os').remove('a.csv')",
    "import_module": "import importlib\nimportlib.import_module('shutil').rmtree('data')",
    "import_module as": "from importlib import import_module as i\ni('os').unlink('a')",
    "posix": "import posix\nposix.remove('a.csv')",
    "map": "import os\nlist(map(os.remove, files))",
    "partial": "import functools, os\nfunctools.partial(os.remove, 'a')()",
    "default argument": "import os\ndef f(x, g=os.remove):\n    g(x)",
    "in a lambda": "import os as o\nf = lambda p: o.unlink(p)",
    "in a method": "class A:\n    def f(self):\n        from os import rmdir\n        rmdir('a')",
    "module of a module": "import pathlib\npathlib.os.remove('a.csv')",
    # Files and folders.
    "os.replace": "import os\nos.replace('a.csv', 'b.csv')",
    "os.rename": "import os\nos.rename('a.csv', 'b.csv')",
    "os.renames": "from os import renames\nrenames('a', 'b')",
    "os.removedirs": "import os\nos.removedirs('a/b')",
    "os.truncate": "import os\nos.truncate('a.csv', 0)",
    "shutil.move": "import shutil\nshutil.move('a.csv', 'b.csv')",
    "Path.unlink": "from pathlib import Path\nPath('a.csv').unlink(missing_ok=True)",
    "Path.rmdir": "from pathlib import Path\np = Path('data')\np.rmdir()",
    "Path.rename": "from pathlib import Path\np = Path('a.csv')\np.rename('b.csv')",
    "Path.replace": "import pathlib\n(pathlib.Path('x') / 'a.csv').replace('b.csv')",
    "Path as": "from pathlib import Path as P\nP('a.csv').rename('b.csv')",
    "paths of a glob": "from pathlib import Path\nfor f in Path('.').glob('*'):\n    f.replace(o)",
    "a path of an earlier cell": "source.replace('b.csv')",
    "class method": "import pathlib\npathlib.Path.unlink(p)",
    "methodcaller": "from operator import methodcaller\nmethodcaller('unlink')(p)",
    "send2trash": "from send2trash import send2trash\nsend2trash('a.csv')",
    "distutils": "from distutils.dir_util import remove_tree\nremove_tree('a')",
    "file systems": "fs.rm('bucket/a.csv', recursive=True)",
    "object storage": "client.delete_object(Bucket='b', Key='k')",
    # Shells.
    "os.system": "import os\nos.system('rm -rf data')",
    "os.system as": "from os import system as s\ns('cd data && rm *')",
    "os.popen": "import os\nos.popen('ls; rm a.csv').read()",
    "subprocess list": "import subprocess\nsubprocess.run(['rm', '-r', folder])",
    "subprocess as": "import subprocess as sp\nsp.check_call(['mv', 'a', 'b'])",
    "subprocess from": "from subprocess import Popen\nPopen('rmdir data', shell=True)",
    "subprocess with a path": "import subprocess\nsubprocess.run(['/bin/rm', 'a'])",
    "a command in a name": "import subprocess\ncmd = ['rm', 'a']\nsubprocess.run(cmd)",
    "an unknown command": "import subprocess\nsubprocess.run(cmd)",
    "words of a command": "import subprocess\nsubprocess.run('rm a.csv'.split())",
    "sh -c": "import subprocess\nsubprocess.run(['sh', '-c', 'rm a'])",
    "python -c": "!python -c \"import os; os.remove('a')\"",
    "find": "!find . -name '*.csv' -delete",
    "find exec": "!find . -name '*.csv' -exec rm {} +",
    "xargs": "!ls *.csv | xargs rm",
    "substitution": "!echo $(rm a.csv)",
    "assigned variable first": "!X=1 rm a.csv",
    "loop": "%%bash\nfor f in *.csv; do rm \"$f\"; done",
    "moved": "!mv a.csv b.csv",
    "interpolated": "cmd = 'rm a.csv'\n!{cmd}",
    "interpolated with a dollar": "!$cmd a.csv",
    "asyncio": "import asyncio\nawait asyncio.create_subprocess_exec('rm', 'a')",
    "exec family": "import os\nos.execvp('rm', ['rm', 'a'])",
    "git": "!git clean -fd",
    "rsync": "!rsync -a --delete a/ b/",
    # IPython.
    "%rm": "%rm a.csv",
    "%rmdir": "%rmdir data",
    "%mv": "%mv a.csv b.csv",
    "rm without percent": "rm a.csv",
    "pip without percent": "pip install x",
    "%sx": "%sx rm a.csv",
    "%system": "files = %system rm a.csv",
    "!!": "!!rm a.csv",
    "%%sh": "%%sh\ncd data\nrm a.csv",
    "%%script": "%%script bash --bg\nrm a.csv",
    "%%python": "%%python\nfrom os import remove\nremove('a')",
    "%time": "import os as o\n%time o.remove('a.csv')",
    "%timeit": "from shutil import rmtree as r\n%timeit -n 1 -r 1 r('data')",
    "%%time": "%%time\nfrom os import remove as x\nx('a')",
    "%%capture": "%%capture out\nfrom shutil import rmtree as x\nx('a')",
    "%alias": "%alias zap rm -rf %s",
    "%alias_magic": "%alias_magic zap rm",
    "run_line_magic": "get_ipython().run_line_magic('rm', 'a.csv')",
    "run_cell_magic": "get_ipython().run_cell_magic('bash', '', 'rm a.csv')",
    "system of the shell": "ip = get_ipython()\nip.system('rm a.csv')",
    "getoutput": "get_ipython().getoutput('rm a.csv')",
    "run_cell": "get_ipython().run_cell('!rm a.csv')",
    "autocall": "import os as o\n/o.remove 'a.csv'",
    "in a branch": "if True:\n    %rm a.csv",
    # Code in code.
    "exec": "exec(\"from os import remove\\nremove('a')\")",
    "eval": "eval(\"__import__('os').remove('a')\")",
    "exec of what is made": "exec(text)",
    "compile": "exec(compile(text, 'x', 'exec'))",
    # Installing.
    "pip.main": "import pip\npip.main(['install', 'x'])",
    "pip from": "from pip import main\nmain(['install', 'x'])",
    "pip internal": "from pip._internal.cli.main import main as m\nm(['install', 'x'])",
    "import_module of pip": "import importlib\nimportlib.import_module('pip').main(['x'])",
    "runpy": "import runpy\nrunpy.run_module('pip', run_name='__main__')",
    "ensurepip": "import ensurepip\nensurepip.bootstrap()",
    "python -m pip": "import sys\nsubprocess.run([sys.executable, '-m', 'pip', 'install', p])",
    "%pip": "%pip install -q x",
    "%conda": "%conda install -y x",
    "%uv": "%uv pip install x",
    "%mamba": "%mamba remove x",
    "pip with options first": "!pip --quiet --no-input install x",
    "pip3.12": "!pip3.12 install x",
    "pip of a folder": "!.venv/bin/pip install x",
    "uninstall": "%pip uninstall -y x",
    "uv add": "!uv add x",
    "uvx": "!uvx ruff check",
    "uv run --with": "!uv run --with pandas x.py",
    "setup.py": "!python setup.py install",
    "list that grows": "import subprocess, sys\ncmd = [sys.executable, '-m', 'pip']\n"
    "cmd += ['install', 'x']\nsubprocess.run(cmd)",
    "command that grows": "import os\ncmd = 'r'\ncmd += 'm a.csv'\nos.system(cmd)",
    "lists that are added": "import subprocess\nsubprocess.run(['pip'] + ['install'] + ['x'])",
    "apt": "!apt-get install -y x",
    "conda env": "!conda env remove -n x",
    "micropip": "import micropip as m\nawait m.install('x')",
    "spacy": "import spacy.cli\nspacy.cli.download('en')",
}  # fmt: skip

DOES_NOT_ASK = {
    "drop": "df = df.drop(columns=['a'])",
    "drop in place": "df.drop([0, 1], inplace=True)",
    "list.remove": "items = [1, 2]\nitems.remove(1)",
    "columns.remove": "columns = list(df.columns)\ncolumns.remove('a')",
    "set.remove": "{1, 2}.remove(1)",
    "set.discard": "names.discard('x')",
    "dict.pop": "d = {'a': 1}\nd.pop('a')",
    "del column": "del df['x']",
    "del name": "del df, other",
    "str.replace": "text.replace('a', 'b')",
    "Series.str.replace": "df['a'] = df['a'].str.replace('$', '', regex=False)",
    "df.replace": "df = df.replace({'a': 1})",
    "df.replace of a name": "df = df.replace(mapping)",
    "df.replace two": "df.replace(-999, np.nan, inplace=True)",
    "df.rename": "df = df.rename(columns={'a': 'b'})",
    "Series.rename": "s = s.rename('total')",
    "datetime.replace": "day.replace(hour=0)",
    "rename_axis": "df.rename_axis('x').reset_index()",
    "os.path": "import os\nos.path.join('a', 'b'); os.path.exists('a')",
    "os.listdir": "import os\nfor name in os.listdir('.'):\n    print(name)",
    "os.makedirs": "import os\nos.makedirs('out', exist_ok=True)",
    "os.environ": "import os\nos.environ.get('HOME')",
    "os.walk": "from os import path, walk, getcwd\nlist(walk('.'))",
    "getattr of a frame": "getattr(df, name)()",
    "getattr of os": "import os\ngetattr(os, 'sep')",
    "shutil.copy": "import shutil\nshutil.copy('a.csv', 'b.csv')",
    "shutil.disk_usage": "from shutil import disk_usage\ndisk_usage('.')",
    "Path reads": "from pathlib import Path\nPath('a.csv').read_text().splitlines()",
    "Path glob": "from pathlib import Path\n[p.stem for p in Path('.').glob('*.csv')]",
    "Path name": "from pathlib import Path\nPath('a.csv').name.replace('.csv', '')",
    "Path with_suffix": "from pathlib import Path\np = Path('a.csv').with_suffix('.json')",
    "str of a path": "from pathlib import Path\nstr(Path('a')).replace('/', '_')",
    "write": "with open('out.txt', 'w') as f:\n    f.write('x')",
    "to_csv": "df.to_csv('out.csv', index=False)",
    "savefig": "plt.savefig('plot.png')",
    "read_sql": "pd.read_sql('select * from t where removed = 0', con)",
    "query": "df.query('a > 1').eval('b = a * 2')",
    "model.eval": "model.eval()",
    "literal_eval": "import ast\nast.literal_eval('[1]')",
    "re.compile": "import re\nre.compile('a').sub('', text)",
    "import_module": "import importlib\nnp = importlib.import_module('numpy')",
    "reload": "import importlib, mine\nimportlib.reload(mine)",
    "import pip": "import pip\npip.__version__",
    "%matplotlib": "%matplotlib inline\nimport pandas as pd",
    "%timeit": "%timeit df.groupby('a').sum()",
    "%%time": "%%time\ndf.sort_values('a')",
    "%load_ext": "%load_ext autoreload\n%autoreload 2",
    "%pip list": "%pip list",
    "!ls": "!ls -la data",
    "!head": "lines = !head -3 a.csv",
    "!wc": "!wc -l {path}",
    "!grep": "!grep -c remove a.csv",
    "!pip show": "!pip show pandas",
    "!python -W": "!python -W ignore analyse.py data",
    "!env": "!env -u HOME A=1 ls data",
    "!node": "!node --max-old-space-size=99 page.js -p 8080",
    "%%script": "%%script bash -e\nls data",
    "subprocess git": "import subprocess\nsubprocess.run(['git', 'status'], check=True)",
    "help": "df.groupby?",
    "modulo": "x = (a\n     % b)\ny = x % 2",
    "class": "class Model:\n    def remove(self, x):\n        self.x = x\nModel().remove(3)",
    "remove_outliers": "def remove_outliers(df):\n    return df[df.a < 3]\nremove_outliers(df)",
    "pipeline": "from sklearn.pipeline import make_pipeline\nmake_pipeline(a, b).fit(X, y)",
    "f-string": "print(f'removed {len(rows)} rows')",
    "a comment": "x = 1  # then move on and replace x",
    "itertools": "from itertools import chain\nlist(chain.from_iterable(a))",
    "networkx": "graph.remove_node(1); graph.remove_edge(1, 2)",
    "axes": "ax.spines['top'].set_visible(False); ax.legend_.remove()",
    "a syntax error": "df.groupby('a'",
}  # fmt: skip


def asks(code: str) -> bool:
    """Whether the cell would be asked about in mode auto."""
    decision = Policy("auto", approver=_Nobody()).decide(RunCell(SeenCells()), {"code": code})
    return decision.kind == "ask"


class _Nobody:
    def ask(self, call: ToolStarted, reason: str) -> ApprovalAnswer:
        raise AssertionError("only the decision is asked for")


@pytest.mark.parametrize("code", ASKS.values(), ids=ASKS)
def test_deleting_overwriting_and_installing_ask_in_mode_auto(code: str) -> None:
    assert asks(code), code_risks(code)


@pytest.mark.parametrize("code", DOES_NOT_ASK.values(), ids=DOES_NOT_ASK)
def test_ordinary_analysis_does_not_ask(code: str) -> None:
    assert not asks(code), code_risks(code)
