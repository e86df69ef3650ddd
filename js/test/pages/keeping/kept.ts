/** A server that keeps memories, documents, usage and tools, in small. */
import type {
  Hit,
  KeptTool,
  SignIn,
  LibraryAnswer,
  LibraryDocument,
  Memory,
  MemoryAnswer,
  MemoryProposal,
  MonthBudget,
  UsageAnswer,
  UsageRow
} from '../../../src/client/keeping_rest';
import { complete } from '../../complete';
import type { FakeServer } from '../../fake_socket';

export function memory(id: string, change: Partial<Memory> = {}): Memory {
  return complete('KeptMemory', {
    id,
    text: `Fact ${id}`,
    scope: 'user',
    created_at: 1000,
    updated_at: 2000,
    source_run: '',
    ...change
  });
}

export function proposal(id: string, change: Partial<MemoryProposal> = {}): MemoryProposal {
  return complete('Proposed', {
    id,
    action: 'add',
    text: `Proposed ${id}`,
    scope: 'user',
    memory_id: '',
    reason: '',
    source_run: '',
    created_at: 1000,
    ...change
  });
}

export function document(id: string, change: Partial<LibraryDocument> = {}): LibraryDocument {
  return complete('LibraryDocument', {
    id,
    name: `${id}.md`,
    place: `notes/${id}.md`,
    kind: 'markdown',
    chunks: 3,
    is_embedded: false,
    indexed_at: 1000,
    problem: '',
    ...change
  });
}

export function hit(number: number, change: Partial<Hit> = {}): Hit {
  return complete('LibraryHit', {
    number,
    document_id: 'a',
    name: 'a.md',
    place: 'notes/a.md',
    heading: 'a.md › Prices',
    text: `Passage ${String(number)}`,
    score: 1,
    ...change
  });
}

export function row(key: string, change: Partial<UsageRow> = {}): UsageRow {
  return complete('UsageLine', {
    key,
    label: '',
    runs: 2,
    calls: 5,
    input_tokens: 12_000,
    cached_tokens: 8_000,
    output_tokens: 900,
    cost_dollars: 0.25,
    ...change
  });
}

export function tool(name: string, change: Partial<KeptTool> = {}): KeptTool {
  return complete('ListedTool', {
    name,
    kind: 'mcp',
    source: 'weather',
    description: 'Says how it will be',
    enabled: true,
    problem: '',
    ...change
  });
}

/** What the server holds; it changes as it is asked to. */
export class Kept {
  memories: Memory[] = [memory('1'), memory('2', { source_run: 'run-7', scope: 'project' })];
  proposals: MemoryProposal[] = [];
  isOn = true;
  library: LibraryAnswer = { documents: [document('a')], libraries: [], indexing: null };
  hits: Hit[] = [
    hit(1, { anchor: 'line 1' }),
    hit(2, { place: 'work.ipynb', name: 'work.ipynb', heading: '', anchor: 'cell 3f2a' })
  ];
  rows: UsageRow[] = [row('2026-11'), row('2026-10', { cost_dollars: 1.5 })];
  budgets: MonthBudget[] = [];
  tools: KeptTool[] = [tool('forecast')];
  signIns: SignIn[] = [];

  serve({ routes }: FakeServer): void {
    routes.set('GET memories', ({ query }): MemoryAnswer => {
      const words = query.get('query') ?? '';
      const memories = this.memories.filter(({ text }) => text.includes(words));
      return { memories, proposals: this.proposals, is_on: this.isOn };
    });
    routes.set('POST memories', ({ body }) => {
      const added = JSON.parse(body) as Memory;
      this.memories = [...this.memories, memory('new', added)];
      return {};
    });
    routes.set('PATCH memories/1', ({ body }) => {
      this.memories = [memory('1', JSON.parse(body) as Memory)];
      return {};
    });
    routes.set('DELETE memories/1', () => {
      this.memories = this.memories.filter(({ id }) => id !== '1');
      return new Response(null, { status: 204 });
    });
    routes.set('POST proposals/p', () => {
      this.proposals = [];
      return {};
    });
    routes.set('PUT memory-setting', ({ body }) => {
      this.isOn = (JSON.parse(body) as { is_on: boolean }).is_on;
      return { is_on: this.isOn };
    });
    routes.set('POST files', ({ query }) => {
      const name = query.get('name') ?? '';
      return { file: `0a1b-${name}`, name, size_bytes: 1, mime: 'text/plain' };
    });
    routes.set('DELETE library', () => {
      this.library = { documents: [], libraries: [], indexing: null };
      return this.library;
    });
    routes.set('GET library', () => this.library);
    routes.set('POST library', () => {
      this.library = { ...this.library, indexing: { done: 0, total: 2, name: 'b.md' } };
      return {};
    });
    routes.set('DELETE library/a', () => {
      this.library = { ...this.library, documents: [] };
      return {};
    });
    routes.set('GET library/search', () => ({ hits: this.hits, problem: '' }));
    routes.set('GET usage', (): UsageAnswer => ({ rows: this.rows, budgets: this.budgets }));
    routes.set('PUT budgets', () => ({}));
    routes.set('GET tools', () => ({ tools: this.tools, sign_ins: this.signIns }));
    routes.set('POST tools/sign-in', () => this._signIn('waiting', 'https://id.example/a?state=s'));
    routes.set('DELETE tools/sign-in', () => this._signIn('wanted', ''));
  }

  private _signIn(state: SignIn['state'], page: string): object {
    this.signIns = this.signIns.map(each => ({ ...each, state, page }));
    return {};
  }
}
