import * as React from 'react';

import type { ToolCard } from '../chat/types';
import { Markdown } from '../markdown';
import { PICTURE } from '../markdown/links';
import { CodeBlock } from '../ui/code_block';
import { useTrans } from '../ui/hooks';
import { PlaceLink, WebLink } from '../ui/opening';
import type { Content } from '../wire/generated';

const ROWS_SHOWN = 60;
const COLUMNS_SHOWN = 30;

interface TableCell {
  readonly text: string;
  readonly isHead: boolean;
}

/** The words of a table, and how many rows it had. */
interface TableWords {
  readonly rows: readonly (readonly TableCell[])[];
  readonly rowCount: number;
}

/**
 * The first table in a piece of HTML; null: there is none.
 *
 * Only its words are taken: the piece is read in a document of its own, where nothing is loaded
 * or run.
 */
function readTable(html: string): TableWords | null {
  const table = new DOMParser().parseFromString(html, 'text/html').querySelector('table');
  const rows = [...(table?.rows ?? [])];
  if (rows.length === 0) {
    return null;
  }
  const shown = rows.slice(0, ROWS_SHOWN).map(row => [...row.cells].slice(0, COLUMNS_SHOWN));
  return {
    rows: shown.map(cells =>
      cells.map(cell => ({ text: cell.textContent.trim(), isHead: cell.tagName === 'TH' }))
    ),
    rowCount: rows.length
  };
}

/** A table that a call shows to the person. */
function ToolTable({ table }: { table: TableWords }) {
  const trans = useTrans();
  return (
    <div
      className="cw-call-table"
      tabIndex={0}
      role="group"
      aria-label={trans.__('Table of this call')}
    >
      <table>
        <tbody>
          {table.rows.map((cells, row) => (
            <tr key={row}>
              {cells.map(({ text, isHead }, column) =>
                isHead ? <th key={column}>{text}</th> : <td key={column}>{text}</td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {table.rowCount > table.rows.length && (
        <p className="cw-muted">
          {trans.__('The first %1 of %2 rows', table.rows.length, table.rowCount)}
        </p>
      )}
    </div>
  );
}

type ContentFields = Content['text'];

const SOUND = /^data:audio\/[\w.+-]+;base64,[A-Za-z0-9+/]+={0,2}$/;
/** Where a source comes from that the person has added. */
const LIBRARY = 'library';
const DONE = new Set(['done', 'completed', 'finished', 'success']);

/** What a call says to the person. */
export function ToolContents({ card }: { card: ToolCard }) {
  return <Contents contents={card.contents} />;
}

/**
 * Pieces for the person. Nothing of it is loaded or run: words are our own Markdown,
 * pictures and sounds are only those that came along, addresses open on a click.
 */
export function Contents({ contents }: { contents: readonly Content[] }) {
  if (contents.length === 0) {
    return null;
  }
  return (
    <div className="cw-contents">
      {contents.map((content, index) => (
        <React.Fragment key={index}>
          {content.name !== '' && content.name !== contents[index - 1]?.name && (
            <h4 className="cw-card-heading">{content.name}</h4>
          )}
          <ContentView type={content.type} fields={content.text} />
        </React.Fragment>
      ))}
    </div>
  );
}

interface ContentViewProps {
  readonly type: string;
  readonly fields: ContentFields;
}

/** A piece of what was said; of a type that is not known, its fields. */
function ContentView({ type, fields }: ContentViewProps) {
  switch (type) {
    case 'text':
      return <TextContent fields={fields} />;
    case 'oral_text':
      return <p className="cw-muted">{words(fields.info)}</p>;
    case 'code':
      return <ContentCode text={words(fields.code)} language={words(fields.language)} />;
    case 'files':
    case 'urls':
    case 'references':
      return <Reference fields={fields} />;
    case 'image':
      return <Picture fields={fields} />;
    case 'audio':
      return <Sound fields={fields} />;
    case 'thought':
      return <Thought text={words(fields.info)} />;
    case 'plan':
      return <Plan fields={fields} />;
    case 'progress':
      return <ShareContent fields={fields} />;
    default:
      return (
        <ContentCode text={indented('data' in fields ? fields.data : fields)} language="json" />
      );
  }
}

function TextContent({ fields }: { fields: ContentFields }) {
  const trans = useTrans();
  const info = words(fields.info);
  const drawn = isFields(fields.mime) ? fields.mime : null;
  const html = words(drawn?.['text/html']);
  const table = React.useMemo(() => (html === '' ? null : readTable(html)), [html]);
  if (table !== null) {
    return <ToolTable table={table} />;
  }
  return drawn === null ? (
    <Markdown text={info} isStreaming={false} trans={trans} />
  ) : (
    <ContentCode text={info} />
  );
}

function ContentCode({ text, language = '' }: { text: string; language?: string }) {
  const trans = useTrans();
  return <CodeBlock text={text} language={language} label={trans.__('What this call shows')} />;
}

/** A file, an address or a source. */
function Reference({ fields }: { fields: ContentFields }) {
  const name = words(fields.filename) || words(fields.title) || words(fields.url);
  const shown = name || words(fields.doc_id) || words(fields.id);
  const about = words(fields.content);
  return (
    <p className="cw-content-reference">
      {fields.type === LIBRARY && fields.url === undefined ? (
        <PlaceLink place={words(fields.source)} anchor={anchorOf(fields)}>
          {shown}
        </PlaceLink>
      ) : (
        <WebLink address={words(fields.url)} name={shown} />
      )}
      {about !== '' && <span className="cw-muted">{about}</span>}
    </p>
  );
}

/** Where in a document: its line, page or cell. */
function anchorOf({ extra }: ContentFields): string {
  return isFields(extra) ? words(extra.anchor) : '';
}

function Picture({ fields }: { fields: ContentFields }) {
  const given = words(fields.mime_type) || 'png';
  const source = dataAddress(given.includes('/') ? given : `image/${given}`, fields.base64);
  const name = words(fields.filename);
  return PICTURE.test(source) ? (
    <img className="cw-md-picture" src={source} alt={name} />
  ) : (
    <Reference fields={fields} />
  );
}

function Sound({ fields }: { fields: ContentFields }) {
  const source = dataAddress(words(fields.mime_type) || 'audio/wav', fields.base64);
  return SOUND.test(source) ? (
    <audio controls src={source} aria-label={words(fields.transcript) || words(fields.filename)} />
  ) : (
    <Reference fields={fields} />
  );
}

function Thought({ text }: { text: string }) {
  const trans = useTrans();
  return (
    <details className="cw-reasoning">
      <summary>{trans.__('Thoughts')}</summary>
      <div className="cw-reasoning-text">{text}</div>
    </details>
  );
}

function Plan({ fields }: { fields: ContentFields }) {
  const goal = words(fields.goal) || words(fields.thought) || words(fields.detail);
  const given = fields.tasks ?? fields.steps;
  const tasks: readonly unknown[] = Array.isArray(given) ? given : [];
  return (
    <>
      {goal !== '' && <p>{goal}</p>}
      <ul className="cw-content-plan">
        {tasks.map((task, index) => (
          <li key={index}>{taskWords(task)}</li>
        ))}
      </ul>
    </>
  );
}

function taskWords(task: unknown): string {
  if (!isFields(task)) {
    return `☐ ${words(task)}`;
  }
  const mark = DONE.has(words(task.status).toLowerCase()) ? '☑' : '☐';
  return `${mark} ${words(task.name) || words(task.description) || words(task.id)}`;
}

function ShareContent({ fields }: { fields: ContentFields }) {
  const trans = useTrans();
  const text = words(fields.message) || words(fields.step);
  const share = typeof fields.progress === 'number' ? fields.progress : 0;
  return (
    <p className="cw-card-progress">
      <span>{text}</span>
      <progress value={share} max={1} aria-label={text || trans.__('Progress')} />
    </p>
  );
}

function dataAddress(mime: string, base64: unknown): string {
  return typeof base64 === 'string' ? `data:${mime};base64,${base64.replace(/\s+/g, '')}` : '';
}

function isFields(value: unknown): value is ContentFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function words(value: unknown): string {
  if (typeof value === 'string') {
    return value;
  }
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

function indented(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}
