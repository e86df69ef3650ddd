/** What the form of an assistant is made of. */
import * as React from 'react';

import { Button } from '../../views/button';
import { useTrans } from '../../views/scope';
import { counted, lengthOf } from './checks';

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

export interface FieldTies {
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
export function Theirs({ label, theirs, onTake }: FieldFacts & { readonly label: string }) {
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
export function Offers({ id, names, words = {} }: OffersProps) {
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
