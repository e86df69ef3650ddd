/** What the form of an assistant is made of. */
import * as React from 'react';
import { flushSync } from 'react-dom';

import { Button, IconButton } from '../../ui/button';
import { useTrans } from '../../ui/hooks';
import {
  type Complaints,
  counted,
  lengthOf,
  LIMITS,
  MOST_SCENES,
  type SceneDraft
} from './assistant_draft';
import { whenWords } from './assistant_words';

/** What a field is told by the form. */
export interface FieldFacts {
  /** What is wrong with it; empty: nothing. */
  readonly complaint?: string | undefined;
  /** What the file has, where it was changed here too. */
  readonly theirs?: string | undefined;
  readonly onTake?: () => void;
}

interface FieldProps extends FieldFacts {
  readonly label: string;
  readonly note?: string | undefined;
  /** Most characters; shown while it is typed in. */
  readonly limit?: number;
  readonly value: string;
  readonly className?: string;
  /** Draws the field, given what ties it to its words. */
  readonly children: (ties: FieldTies) => React.ReactNode;
}

interface FieldTies {
  readonly id: string;
  readonly 'aria-invalid'?: true;
  readonly 'aria-describedby'?: string;
}

/** A field with its label, what is to be known of it, and what is wrong with it. */
export function Field(props: FieldProps) {
  const { label, note = '', limit, value, complaint = '', className = '', children } = props;
  const trans = useTrans();
  const id = React.useId();
  const length = lengthOf(value);
  const count = limit === undefined ? '' : trans.__('%1 of %2', counted(length), counted(limit));
  const told = { complaint, note, count };
  return (
    <div className={`cw-form-field ${className}`}>
      <div className="cw-form-label">
        <label htmlFor={id}>{label}</label>
        <FieldWords
          id={id}
          told={told}
          part="count"
          isWrong={limit !== undefined && length > limit}
        />
      </div>
      {children(tiesOf(id, told))}
      <FieldWords id={id} told={told} part="complaint" isWrong />
      <FieldWords id={id} told={told} part="note" />
      <Theirs {...props} />
    </div>
  );
}

/** What is said of a field; empty texts are not. */
type AllTold = Readonly<Record<'complaint' | 'note' | 'count', string>>;

interface FieldWordsProps {
  readonly id: string;
  readonly told: AllTold;
  readonly part: keyof AllTold;
  readonly isWrong?: boolean;
}

function FieldWords({ id, told, part, isWrong = false }: FieldWordsProps) {
  return told[part] === '' ? null : (
    <p id={id + part} className={isWrong ? 'cw-problem' : 'cw-muted'}>
      {told[part]}
    </p>
  );
}

function tiesOf(id: string, told: AllTold): FieldTies {
  const said = (['complaint', 'note', 'count'] as const).filter(part => told[part] !== '');
  return {
    id,
    ...(told.complaint !== '' && { 'aria-invalid': true }),
    ...(said.length > 0 && { 'aria-describedby': said.map(part => id + part).join(' ') })
  };
}

/** What the file has now, to be taken in place of what was typed. */
function Theirs({ label, theirs, onTake }: FieldFacts & { readonly label: string }) {
  const trans = useTrans();
  if (theirs === undefined) {
    return null;
  }
  return (
    <div className="cw-form-theirs">
      <span>
        <span className="cw-muted">{trans.__('In the file now:')}</span>{' '}
        <span className="cw-form-their-text">{theirs === '' ? trans.__('Nothing') : theirs}</span>
      </span>
      <Button aria-label={trans.__('Take what the file has: %1', label)} onClick={onTake}>
        {trans.__('Take this')}
      </Button>
    </div>
  );
}

interface TextFieldProps extends Omit<FieldProps, 'children'> {
  readonly onValue: (value: string) => void;
  readonly placeholder?: string;
  /** Rows of a text of several lines; left out: it has one. */
  readonly rows?: number;
  /** What is offered while it is typed in. */
  readonly offers?: readonly string[];
  readonly inputMode?: 'decimal';
}

/** A text of one line or several. */
export function TextField(props: TextFieldProps) {
  const { onValue, placeholder = '', rows, offers, inputMode, ...facts } = props;
  const list = React.useId();
  const onChange = (event: React.ChangeEvent<HTMLInputElement | HTMLTextAreaElement>): void => {
    onValue(event.target.value);
  };
  const shared = { className: 'cw-field', value: facts.value, placeholder, onChange };
  return (
    <Field {...facts}>
      {ties =>
        rows === undefined ? (
          <>
            <input
              {...ties}
              {...shared}
              autoComplete="off"
              spellCheck={false}
              {...(inputMode !== undefined && { inputMode })}
              {...(offers !== undefined && offers.length > 0 && { list })}
            />
            {offers !== undefined && <Offers id={list} names={offers} />}
          </>
        ) : (
          <textarea {...ties} {...shared} rows={rows} />
        )
      }
    </Field>
  );
}

interface OffersProps {
  readonly id: string;
  readonly names: readonly string[];
  /** What a name stands for. */
  readonly words?: Partial<Record<string, string>>;
}

/** Names that a field offers. */
function Offers({ id, names, words = {} }: OffersProps) {
  return (
    <datalist id={id}>
      {names.map(name => (
        <option key={name} value={name} {...(words[name] && { label: words[name] })} />
      ))}
    </datalist>
  );
}

interface CheckProps extends FieldFacts {
  readonly label: string;
  readonly note: string;
  readonly isOn: boolean;
  readonly onSwitch: (isOn: boolean) => void;
}

/** Something that is so or not. */
export function Check({ label, note, isOn, onSwitch, ...facts }: CheckProps) {
  const id = React.useId();
  return (
    <div className="cw-form-check">
      <label>
        <input
          type="checkbox"
          checked={isOn}
          aria-describedby={`${id}note`}
          onChange={event => {
            onSwitch(event.target.checked);
          }}
        />
        <span>{label}</span>
      </label>
      <p id={`${id}note`} className="cw-muted">
        {note}
      </p>
      <Theirs label={label} {...facts} />
    </div>
  );
}

type NamesMode = 'all' | 'none' | 'chosen';

interface NamesFieldProps extends FieldFacts {
  readonly label: string;
  /** What each choice says; without `none` an empty list is a chosen one. */
  readonly choices: Readonly<Record<'all' | 'chosen', string>> & { readonly none?: string };
  /** Null: all. */
  readonly names: readonly string[] | null;
  /** What a line for one more name is called. */
  readonly newName: string;
  readonly placeholder: string;
  /** What is said where none is chosen. */
  readonly empty: string;
  readonly offers: readonly string[];
  readonly words?: Partial<Record<string, string>>;
  readonly onNames: (names: readonly string[] | null) => void;
}

/** All of something, none of it, or what a person names. */
export function NamesField(props: NamesFieldProps) {
  const { label, choices, names, empty, onNames } = props;
  const group = React.useId();
  const [isChoosing, setChoosing] = React.useState(false);
  const latest = React.useRef<readonly string[]>([]);
  if (names !== null && names.length > 0) {
    latest.current = names;
  }
  const mode = modeOf(names, isChoosing || choices.none === undefined);
  const choose = (wanted: NamesMode): void => {
    setChoosing(wanted === 'chosen');
    onNames(wanted === 'all' ? null : wanted === 'none' ? [] : latest.current);
  };
  const shown = (['all', 'none', 'chosen'] as const).flatMap(key =>
    choices[key] === undefined ? [] : [{ key, words: choices[key] }]
  );
  return (
    <fieldset className="cw-form-group">
      <legend>{label}</legend>
      <div className="cw-form-choices">
        {shown.map(({ key, words }) => (
          <label key={key}>
            <input
              type="radio"
              name={group}
              checked={mode === key}
              onChange={() => {
                choose(key);
              }}
            />
            <span>{words}</span>
          </label>
        ))}
      </div>
      {mode === 'chosen' && <Names {...props} names={names ?? []} />}
      {mode === 'chosen' && names?.length === 0 && <p className="cw-muted">{empty}</p>}
      <Theirs {...props} />
    </fieldset>
  );
}

function modeOf(names: readonly string[] | null, isChosenEmpty: boolean): NamesMode {
  if (names === null) {
    return 'all';
  }
  return names.length === 0 && !isChosenEmpty ? 'none' : 'chosen';
}

function Names(props: NamesFieldProps & { readonly names: readonly string[] }) {
  const { names, newName, placeholder, offers, words = {}, onNames } = props;
  const trans = useTrans();
  const list = React.useId();
  const field = React.useRef<HTMLInputElement>(null);
  const [text, setText] = React.useState('');
  const add = (): void => {
    const added = text
      .split(',')
      .map(name => name.trim())
      .filter(name => name !== '');
    if (added.length > 0) {
      onNames([...new Set([...names, ...added])]);
    }
    setText('');
  };
  return (
    <>
      {names.length > 0 && (
        <ul className="cw-chips" aria-label={props.label}>
          {names.map(name => (
            <li key={name} className="cw-chip" title={words[name]}>
              <span>{name}</span>
              <IconButton
                icon="close"
                label={trans.__('Take out "%1"', name)}
                onClick={() => {
                  onNames(names.filter(other => other !== name));
                  field.current?.focus();
                }}
              />
            </li>
          ))}
        </ul>
      )}
      <div className="cw-form-line">
        <input
          ref={field}
          className="cw-field"
          aria-label={newName}
          placeholder={placeholder}
          value={text}
          list={list}
          autoComplete="off"
          spellCheck={false}
          onChange={event => {
            setText(event.target.value);
          }}
          onBlur={add}
          onKeyDown={event => {
            if (event.key === 'Enter' && !event.nativeEvent.isComposing && text.trim() !== '') {
              event.preventDefault(); // it would save the whole form
              add();
            }
          }}
        />
        <Offers id={list} words={words} names={offers.filter(name => !names.includes(name))} />
        <Button icon="plus" aria-disabled={text.trim() === ''} onClick={add}>
          {trans.__('Add')}
        </Button>
      </div>
    </>
  );
}

interface ScenesFieldProps extends FieldFacts {
  readonly label: string;
  readonly scenes: readonly SceneDraft[];
  readonly complaints: Complaints;
  readonly onScenes: (scenes: readonly SceneDraft[]) => void;
}

/** More instructions for one kind of situation each. */
export function ScenesField(props: ScenesFieldProps) {
  const { label, scenes, complaints, onScenes } = props;
  const trans = useTrans();
  const group = React.useRef<HTMLFieldSetElement>(null);
  const isFull = scenes.length >= MOST_SCENES;
  /** Draw the changed scenes at once, so that the very next key goes to what is focused. */
  const change = (changed: readonly SceneDraft[], focused: string): void => {
    flushSync(() => {
      onScenes(changed);
    });
    [...(group.current?.querySelectorAll<HTMLElement>(focused) ?? [])].at(-1)?.focus();
  };
  const add = (): void => {
    if (!isFull) {
      const key = Math.max(-1, ...scenes.map(scene => scene.key)) + 1;
      change([...scenes, { key, label: '', prompt: '', when: null }], 'input');
    }
  };
  return (
    <fieldset ref={group} className="cw-form-group">
      <legend>{label}</legend>
      <p className="cw-muted">
        {trans.__(
          'More instructions for one kind of situation. A label that begins with data, plot or debug is chosen by what goes on in the notebook, any other one when the prompt says it.'
        )}
      </p>
      {scenes.length > 0 && (
        <ul className="cw-scenes">
          {scenes.map((scene, place) => (
            <SceneField
              key={scene.key}
              scene={scene}
              number={place + 1}
              complaints={complaints}
              onChange={changed => {
                onScenes(scenes.map(other => (other === scene ? changed : other)));
              }}
              onRemove={() => {
                change(
                  scenes.filter(other => other !== scene),
                  '.cw-add-scene'
                );
              }}
            />
          ))}
        </ul>
      )}
      <div className="cw-row">
        <Button icon="plus" className="cw-add-scene" aria-disabled={isFull} onClick={add}>
          {trans.__('Add a scene')}
        </Button>
        {isFull && (
          <span className="cw-muted">
            {trans.__('%1 scenes are as many as can be.', MOST_SCENES)}
          </span>
        )}
      </div>
      <Theirs {...props} />
    </fieldset>
  );
}

interface SceneFieldProps {
  readonly scene: SceneDraft;
  readonly number: number;
  readonly complaints: Complaints;
  readonly onChange: (scene: SceneDraft) => void;
  readonly onRemove: () => void;
}

function SceneField({ scene, number, complaints, onChange, onRemove }: SceneFieldProps) {
  const trans = useTrans();
  const { key, label, prompt, when } = scene;
  const name = label.trim() === '' ? trans.__('Scene %1', number) : label.trim();
  return (
    <li>
      <div className="cw-scene" role="group" aria-label={name}>
        <div className="cw-scene-head">
          <TextField
            label={trans.__('Label')}
            value={label}
            limit={LIMITS.label}
            placeholder={trans.__('Such as: plot')}
            complaint={complaints[`label ${String(key)}`]}
            onValue={value => {
              onChange({ ...scene, label: value });
            }}
          />
          <IconButton
            icon="trash"
            label={trans.__('Remove the scene "%1"', name)}
            onClick={onRemove}
          />
        </div>
        <TextField
          label={trans.__('What it is told then')}
          value={prompt}
          limit={LIMITS.prompt}
          rows={2}
          complaint={complaints[`prompt ${String(key)}`]}
          onValue={value => {
            onChange({ ...scene, prompt: value });
          }}
        />
        {when !== null && (
          <p className="cw-muted">
            {trans.__(
              'Only when: %1. The file says so; it is changed there.',
              whenWords(when, trans)
            )}
          </p>
        )}
      </div>
    </li>
  );
}
