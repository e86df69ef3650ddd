import * as React from 'react';

import { Button, IconButton } from '../../views/button';
import { useTrans } from '../../views/scope';
import { type FieldFacts, Offers, Theirs } from './field';

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
